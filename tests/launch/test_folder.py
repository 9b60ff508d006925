"""The folder of a check."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.launch import prepare, publish
from reprocheck.launch.folder import discard
from tests.launch.conftest import Place


def test_checks_at_once_do_not_collide(tmp_path: Path) -> None:
    made: list[Path] = []
    threads = [
        threading.Thread(target=lambda: made.append(prepare(tmp_path / "reports", "train")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8
    assert all(path.is_dir() and not [*path.glob("[!.]*")] for path in made)


def test_a_folder_that_cannot_be_written_is_named_before_the_first_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for output in (tmp_path / "file", Path("/proc/reports")):
        with pytest.raises(ReportError, match="cannot be written"):
            prepare(output, "train")


def test_a_folder_that_comes_to_nothing_leaves_nothing(tmp_path: Path) -> None:
    discard(prepare(tmp_path / "reports", "train"))
    assert not (tmp_path / "reports").exists()
    kept = prepare(tmp_path / "reports", "train")
    discard(prepare(tmp_path / "reports", "train"))
    assert kept.is_dir()


def untracked(repository: Path) -> list[str]:
    """What `git status` lists."""
    done = subprocess.run(
        ["git", "status", "--porcelain"], cwd=repository, capture_output=True, text=True, check=True
    )
    return done.stdout.split("\n")[:-1]


def test_git_does_not_see_reports(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    folder = prepare(tmp_path / "reports", "train")
    (folder / "record.json").touch()
    publish(folder)
    assert untracked(tmp_path) == []


def test_git_still_sees_what_the_user_keeps_beside_reports(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "mine.md").touch()
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    (tmp_path / "reports" / "new.md").touch()
    (prepare(tmp_path / "reports", "train") / "record.json").touch()
    assert untracked(tmp_path) == ["A  reports/mine.md", "?? reports/new.md"]


def test_what_is_written_has_the_permissions_that_the_umask_leaves(tmp_path: Path) -> None:
    code = (
        "import os, sys; os.umask(0o077)\n"
        "from pathlib import Path\nfrom reprocheck.files.atomic import replacing\n"
        "with replacing(Path('file')) as file: file.write(b'x')\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


def test_no_file_of_a_report_is_open_to_others_where_the_umask_closes_it(place: Place) -> None:
    before = os.umask(0o077)
    try:
        place.check(
            "import reprocheck; [reprocheck.log_loss(1.0 / (step + 1)) for step in range(3)]"
        )
    finally:
        os.umask(before)
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in place.folder.rglob("*")
        if path.is_file()
    }
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}
    assert "record.json" in modes


def test_latest_is_replaced(tmp_path: Path) -> None:
    first, second = prepare(tmp_path, "train"), prepare(tmp_path, "train")
    publish(first)
    assert (tmp_path / "latest").resolve() == first
    publish(second)
    assert os.readlink(tmp_path / "latest") == second.name
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [first.name, second.name, "latest"]
    )


def test_keep_drops_old_reports_of_the_same_name_only(tmp_path: Path) -> None:
    names = [
        "train-20200101-000000",
        "train-20200101-000000-2",
        "train-20200101-000000-10",
        "train-20200102-000000",
    ]
    others = ["train-b-20190101-000000", "train-20190101-000000-notes", "train-20180101-000000"]
    for name in names + others:
        (tmp_path / name).mkdir()
        if name != "train-20180101-000000":
            (tmp_path / name / "record.json").touch()
    publish(tmp_path / names[-1], keep=2)
    assert {path.name for path in tmp_path.iterdir()} == {*names[-2:], *others, "latest"}


def test_a_check_keeps_its_reports_tidy(place: Place) -> None:
    for _ in range(3):
        place.check("pass", keep=2)
    folders = list((place.path / "reports").glob("train-*"))
    assert len(folders) == 2
    assert (place.path / "reports" / "latest").resolve() == place.folder
