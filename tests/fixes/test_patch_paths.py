"""The names in a printed patch lead to the files from where `patch -p1` and `git apply` are told to
work.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from reprocheck.fixes.edits.difference import difference

BEFORE, AFTER = "import random\nrng = random.Random()\n", "import random\nrng = random.Random(0)\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script and a module beside its folder; the script's folder is the working directory."""
    project = tmp_path / "project"
    for name in ("exp/train.py", "common/data.py"):
        (project / name).parent.mkdir(parents=True)
        (project / name).write_text(BEFORE)
    monkeypatch.chdir(project / "exp")
    return project


def apply(text: str, folder: Path, *command: str) -> None:
    subprocess.run([*command], input=text.encode(), cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("command", [("patch", "-p1"), ("git", "apply")])
@pytest.mark.parametrize("name", ["train.py", "../exp/train.py", "{project}/exp/train.py"])
def test_a_patch_of_the_script_applies_in_the_working_directory(
    project: Path, name: str, command: tuple[str, ...]
) -> None:
    text = difference({Path(name.format(project=project)): AFTER})
    assert text.startswith("--- a/train.py\n+++ b/train.py\n")
    apply(text, project / "exp", *command)
    assert (project / "exp" / "train.py").read_text() == AFTER


@pytest.mark.parametrize("command", [("patch", "-p1"), ("git", "apply")])
def test_a_patch_of_a_link_is_that_of_the_file_it_leads_to(
    project: Path, command: tuple[str, ...]
) -> None:
    (project / "exp" / "link.py").symlink_to("../common/data.py")
    text = difference({Path("link.py"): AFTER})
    assert text.startswith("Apply it in ../common with `patch -p1`.\n--- a/data.py\n")
    apply(text, project / "common", *command)
    assert (project / "common" / "data.py").read_text() == AFTER


@pytest.mark.parametrize("command", [("patch", "-p1"), ("git", "apply")])
def test_a_patch_of_files_elsewhere_says_where_it_applies(
    project: Path, command: tuple[str, ...]
) -> None:
    text = difference({Path("train.py"): AFTER, Path("../common/data.py"): AFTER})
    assert text.startswith("Apply it in .. with `patch -p1`.\n--- a/common/data.py\n")
    assert "/../" not in text and "//" not in text
    apply(text, project, *command)
    assert [(project / file).read_text() for file in ("exp/train.py", "common/data.py")] == [
        AFTER,
        AFTER,
    ]
