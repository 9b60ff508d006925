"""A report is the same whenever and wherever it is drawn: what it shows of the user's files was
settled when the runs were recorded.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from reprocheck.report import FORMATS
from reprocheck.workflow import replay
from tests.conftest import reprocheck
from tests.e2e.explain.explaining import Explained, differing, explain

TRAIN = """
import colorsys
import reprocheck
from parts import noise
for step in range(20):
    reprocheck.log_loss(10 * noise.draw())
"""
NOISE = """\
import random

rng = random.Random()


def draw():
    return rng.random()
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Explained:
    """A search whose cause stands in a module that the script imports."""
    workdir = tmp_path_factory.mktemp("imported") / "work"
    (workdir / "parts").mkdir(parents=True)
    (workdir / "parts" / "__init__.py").write_text("")
    (workdir / "parts" / "noise.py").write_text(NOISE)
    return differing(explain(TRAIN, workdir))


def test_the_first_drawing_follows_what_the_script_imports(imported: Explained) -> None:
    assert imported.report["causes"][0]["confidence"] == "confirmed"
    assert "parts/noise.py" in (imported.folder / "sources.json").read_text()
    assert imported.report["controls"]["smallest"] == ["private-rng"]


def test_every_format_of_a_moved_folder_is_the_same_though_the_source_is_gone(
    imported: Explained, tmp_path: Path
) -> None:
    here = {
        name: form.render(replay.load(imported.folder))
        for name, form in FORMATS.items()
        if name not in ("png", "difference")
    }
    moved = tmp_path / "elsewhere" / "reports" / "moved"
    shutil.copytree(imported.folder, moved)
    workdir = imported.folder.parent.parent
    for script in (workdir / "train.py", workdir / "parts" / "noise.py"):
        script.unlink()
    there = {name: FORMATS[name].render(replay.load(moved)) for name in here}
    assert [name for name in here if here[name] != there[name]] == []
    assert here["json"] == (imported.folder / "report.json").read_bytes()


def test_files_of_the_same_names_in_another_place_are_not_taken_for_those_of_the_runs(
    imported: Explained, tmp_path: Path
) -> None:
    moved = tmp_path / "reports" / "moved"
    shutil.copytree(imported.folder, moved)
    for name in ("colorsys.py", "train.py"):
        (tmp_path / name).write_text("import random\nrng = random.Random()\nrng.random()\n")
        os.utime(tmp_path / name, (0, 0))
    done = reprocheck(
        "report", moved, "--format", "json", "-o", tmp_path / "again.json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again.json").read_bytes() == (imported.folder / "report.json").read_bytes()
