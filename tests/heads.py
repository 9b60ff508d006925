"""First lines of scripts of tests, which keep a framework from importing what the test is not
about. Each is one line.
"""

from __future__ import annotations

NO_COMPILER = (
    'import sys, types; dynamo = sys.modules["torch._dynamo"] = types.ModuleType("torch._dynamo");'
    " dynamo.disable = lambda function, *_, **__: function; dynamo.graph_break = lambda: None\n"
)
"""Of a script with PyTorch that compiles nothing. Its optimizers import the compiler for two empty
calls, which takes nearly as much CPU time as PyTorch itself: 2 s.
"""
NO_EXTRAS = (
    'import sys; sys.modules.update(dict.fromkeys(("matplotlib", "pandas", "scipy", "sklearn")))\n'
)
"""Of a script with Keras or TensorFlow, which import these where they are installed: 2 s."""
