from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.suite.execution import Job
from reprocheck.suite.execution.claims import Claim, Wanted, claimed, of_folder
from reprocheck.suite.target import Target


def work(folder: Path, workdir: str = "inplace") -> Claim | None:
    target = Target(name="a", words=(), workdir=folder, options={"workdir": workdir})
    return claimed(of_folder(Job(target=target, night="n", root=folder, place="x")))


def given_back(*claims: Claim | None) -> None:
    for claim in claims:
        assert claim is not None
        claim.give_back()


def test_a_working_directory_is_one_checks_at_a_time(tmp_path: Path) -> None:
    first = work(tmp_path)
    assert work(tmp_path) is None
    given_back(first)
    given_back(work(tmp_path))


def test_a_folder_in_a_working_directory_belongs_to_it(tmp_path: Path) -> None:
    outer = work(tmp_path)
    assert work(tmp_path / "inner") is None
    given_back(outer)
    inner, beside = work(tmp_path / "inner"), work(tmp_path / "beside")
    assert work(tmp_path) is None
    given_back(inner, beside)


def test_copies_are_made_side_by_side_and_not_while_the_folder_changes(tmp_path: Path) -> None:
    first, second = work(tmp_path, "copy"), work(tmp_path, "copy")
    assert work(tmp_path) is None
    given_back(first, second)
    alone = work(tmp_path)
    assert work(tmp_path, "copy") is None
    given_back(alone)


def test_nothing_is_held_where_a_part_is_anothers(tmp_path: Path) -> None:
    device, other = Wanted(f"device of {tmp_path}"), Wanted(f"other of {tmp_path}")
    held = claimed([device])
    assert claimed([other, device]) is None
    given_back(claimed([other]), held)


def test_what_a_process_that_was_killed_had_is_free(tmp_path: Path) -> None:
    program = (
        "from reprocheck.suite.execution.claims import *;"
        f"print(claimed([Wanted('of {tmp_path}')]), flush=True); input()"
    )
    name = f"of {tmp_path}"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert b"Claim" in process.stdout.readline()
        assert claimed([Wanted(name)]) is None
        process.kill()
    given_back(claimed([Wanted(name)]))


def test_a_folder_for_temporary_files_that_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr("tempfile.tempdir", str(file))
    with pytest.raises(ReportError, match="cannot be written") as error:
        work(tmp_path)
    assert "TMPDIR" in error.value.fix
