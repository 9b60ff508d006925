"""First lines of scripts of tests, each one line."""

from __future__ import annotations

from pathlib import Path

_UNCOMPILED = Path(__file__).parent / "fakes" / "uncompiled" / "sitecustomize.py"

NO_COMPILER = f"import runpy; runpy.run_path({str(_UNCOMPILED)!r}, run_name='uncompiled')\n"
"""Of a script with PyTorch that compiles nothing: it starts without PyTorch's compiler."""
