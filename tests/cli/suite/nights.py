"""A suite in a folder, with the nights of `tests.suite.pages.samples` in its history."""

from __future__ import annotations

from pathlib import Path

from reprocheck.suite.history import open_history
from reprocheck.suite.targets import load
from tests.suite.pages.samples import LIVES, fill

RUN = 'run = "train.py"'
MATRIX = 'run = "train.py {lr} {seed}"\nmatrix = { lr = [0.1], seed = [2] }'


def _table(name: str) -> str:
    run = MATRIX if "[" in name else RUN
    return f'[[target]]\nname = "{name.partition("[")[0]}"\n{run}\n'


SUITE = "\n".join(map(_table, LIVES))


def make(folder: Path) -> None:
    """Writes the settings file and the history."""
    (folder / "reprocheck.toml").write_text(SUITE)
    (folder / "train.py").write_text("")
    with open_history(load(folder).history) as history:
        fill(history)
