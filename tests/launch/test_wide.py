"""Working directories that hold a whole machine: refused, and what is refused says a way that
works.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reprocheck import launch
from reprocheck.errors import UsageError
from reprocheck.launch.workdir import snapshot, tree
from reprocheck.launch.workdir.tree import MOVE, read_tree
from reprocheck.settings import Settings
from tests.launch.conftest import Place

LOSSES = "import reprocheck\nfor step in range(4): reprocheck.log_loss(1.0 / (step + 1))\n"


def refused(folder: Path, script: str, output: Path) -> UsageError:
    """What a check that starts in `folder` is told."""
    os.chdir(folder)
    entry = launch.entry_point(script=script)
    with pytest.raises(UsageError) as caught:
        launch.check(entry, Settings(), launch.prepare(output, entry.name), launch.Quiet())
    assert not output.exists(), "nothing is left of a check that was refused"
    return caught.value


def test_the_root_folder_is_refused_and_the_advice_works(place: Place) -> None:
    script = place.path / place.script(LOSSES)
    said = refused(Path("/"), str(script), place.path / "reports")
    assert "root of the file system" in said.message
    _, _, command = said.fix.partition(": ")
    assert command == f"cd {place.path} && reprocheck run train.py"
    done = subprocess.run(
        command.replace("reprocheck", f"{sys.executable} -m reprocheck", 1),
        shell=True,
        cwd="/",
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_home_folder_is_refused_and_one_in_it_is_not(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(place.path.parent))
    script = place.path / place.script(LOSSES)
    (place.path.parent / "beside.py").write_text(LOSSES)
    output = place.path / "reports"
    assert refused(place.path.parent, str(script), output).fix.endswith(
        f"cd {place.path} && reprocheck run train.py"
    )
    assert refused(place.path.parent, "beside.py", output).fix == MOVE
    os.chdir(place.path)
    assert place.check(LOSSES).runs[1].ended == "completed"


def test_another_device_is_neither_listed_nor_kept_but_named(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tree._device
    monkeypatch.setattr(
        tree, "_device", lambda path: -1 if path.endswith("/mounted") else real(path)
    )
    (place.path / "mounted").mkdir()
    (place.path / "mounted" / "data").touch()
    assert read_tree(place.path).mounted == ("mounted",)
    assert "mounted/data" not in read_tree(place.path).entries
    place.check("pass")
    assert any("another device" in text and "mounted" in text for text in place.heard.messages)
    place.check("import os; print(os.listdir('mounted'))", workdir="copy")
    assert (place.folder / "run-2" / "stdout.log").read_text() == "['data']\n"


def test_a_tree_with_pipes_and_sockets_does_not_block(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "file").write_text("mine")
    before = read_tree(root)
    (root / "file").unlink()
    os.mkfifo(root / "file")  # takes the place of a file that was listed
    snapshot.keep(root, before, tmp_path / "store")
    assert read_tree(root).entries == {}
