"""The folders of checks written once."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """report.html of every sample."""
    from reprocheck.report import write
    from tests.report.samples import SAMPLES, million

    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, sample in (*SAMPLES.items(), ("million", million)):
        target = folder / name
        target.mkdir()
        write(sample(), target, ["html"])
        made[name] = target / "report.html"
    return made
