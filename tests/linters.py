"""Linters of the extra `dev`, as tests call them; and what they read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def tool(name: str) -> str:
    """A linter beside the interpreter."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        pytest.skip(f"{name} is not installed: pip install -e '.[dev]'")
    return str(path)


def passes(*words: str, text: str = "") -> None:
    """The linter finds nothing."""
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def read_yaml(path: Path) -> Any:
    yaml = pytest.importorskip("ruamel.yaml")
    return yaml.YAML(typ="safe").load(path.read_text())
