"""The abstract execution: statements are gone through as Python would, with both branches of each
condition that is not known.

The interpreter is one class. Each file adds the methods of a subject: the state (`machine`), then
attributes, what libraries call, elements, known calls, calls, expressions, imports, statements.

`program(module)` is what happens when a module is executed, `parts(module)` what else begins in it.
"""

from __future__ import annotations

from reprocheck.scan.execution.start import Body, body, parts, program

__all__ = ["Body", "body", "parts", "program"]
