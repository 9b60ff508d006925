"""The site of a history drawn once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from reprocheck.suite import site
from reprocheck.suite.history import open_history
from reprocheck.suite.targets import Suite
from tests.suite.pages.samples import NIGHTS, fill, known_targets, night_id, suite_of


@dataclass(frozen=True)
class Drawn:
    """A suite with its history, and the folder of its site."""

    suite: Suite
    folder: Path

    @property
    def index(self) -> Path:
        return self.folder / "index.html"

    @property
    def newest(self) -> Path:
        return self.folder / "nights" / f"{night_id(NIGHTS - 1)}.html"

    def target(self, name: str) -> Path:
        return self.folder / "targets" / f"{name}.html"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    """The site of the nights in `samples.LIVES`."""
    suite = suite_of(tmp_path_factory.mktemp("suite") / "nightly", *known_targets())
    with open_history(suite.history) as history:
        fill(history)
        written = site.write(history, suite)
    return Drawn(suite=suite, folder=written.index.parent)
