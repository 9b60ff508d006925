"""The folders of checks written once."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """report.html of every sample, and of a few that no other format is drawn of."""
    from reprocheck.report import write
    from tests.report.samples import SAMPLES, many_ranks, million
    from tests.report.test_controls_section import searched

    folder = tmp_path_factory.mktemp("pages")
    made = {}
    more = {"million": million, "many_ranks": many_ranks, "searched": searched}
    for name, sample in {**SAMPLES, **more}.items():
        target = folder / name
        target.mkdir()
        write(sample(), target, ["html"])
        made[name] = target / "report.html"
    return made
