"""Execute programs in the abstract: statement by statement as Python would, but both branches of
each condition whose value is not known.

The interpreter is one class. Each file adds the methods of a subject: the state (`machine`), then
attributes, functions that libraries call, elements, known calls, calls, expressions, imports,
statements.

`program(module)` returns the steps of executing a module, `parts(module)` those of its functions
and classes that no program reaches.
"""

from __future__ import annotations

from reprocheck.scan.execution.start import Body, body, parts, program

__all__ = ["Body", "body", "parts", "program"]
