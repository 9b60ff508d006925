"""The folder of a check."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.launch import prepare, publish
from tests.launch.conftest import Place


def test_checks_at_once_do_not_collide(tmp_path: Path) -> None:
    made: list[Path] = []
    threads = [threading.Thread(target=lambda: made.append(prepare(tmp_path / "reports", "train"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 8
    assert all(path.is_dir() and not list(path.iterdir()) for path in made)


def test_a_folder_that_cannot_be_written_is_named_before_the_first_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for output in (tmp_path / "file", Path("/proc/reports")):
        with pytest.raises(ReportError, match="cannot be written"):
            prepare(output, "train")


def test_latest_is_replaced(tmp_path: Path) -> None:
    first, second = prepare(tmp_path, "train"), prepare(tmp_path, "train")
    publish(first)
    assert (tmp_path / "latest").resolve() == first
    publish(second)
    assert os.readlink(tmp_path / "latest") == second.name
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([first.name, second.name, "latest"])


def test_keep_drops_old_reports_of_the_same_name_only(tmp_path: Path) -> None:
    names = ["train-20200101-000000", "train-20200101-000000-2", "train-20200101-000000-10", "train-20200102-000000"]
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
    folders = [path for path in (place.path / "reports").iterdir() if path.name != "latest"]
    assert len(folders) == 2
    assert (place.path / "reports" / "latest").resolve() == place.folder
