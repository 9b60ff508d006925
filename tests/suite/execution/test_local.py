"""Real checks of small scripts on this machine."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.faults.kills import ALL_AT_ONCE
from benchmarks.marked import marked
from reprocheck.errors import ReportError
from reprocheck.suite.execution import Job, claims, left_by, perform, read
from reprocheck.suite.execution.local_executor import GPUS, NPUS, LocalExecutor, Machine
from reprocheck.suite.execution.perform import UnderWay, commit_of, packed, tail, unpacked
from reprocheck.suite.model import Resources
from reprocheck.suite.target import Target
from tests.suite.nights import GOOD, PLAIN

TOKEN = "REPROCHECK_TEST_OF_THIS_TARGET"
CHILDREN = 500
PARENT_OF_MANY = f"""
import os, signal
{GOOD}
for number in range({CHILDREN}):
    if os.fork() == 0:
        if number % 2:
            os.setsid()
        for asks in (signal.SIGINT, signal.SIGTERM):
            signal.signal(asks, signal.SIG_IGN)
        while True:
            signal.pause()
"""
DEVICES = "import os, sys\nprint(os.environ.get('CUDA_VISIBLE_DEVICES'), flush=True)\n"
MACHINE = Machine(cpus=4, devices={GPUS: ("3", "5"), NPUS: ()})


def job(folder: Path, name: str, source: str, **fields: object) -> Job:
    workdir = folder / name
    workdir.mkdir(exist_ok=True)
    (workdir / "train.py").write_text(source)
    target = Target(name=name, words=("train.py",), workdir=workdir, options=PLAIN)
    return Job(
        target=replace(target, **fields), night="n", root=folder, place=f"n/{name}/attempt-1"
    )


def test_nothing_of_a_target_with_500_children_is_alive_afterwards(tmp_path: Path) -> None:
    many = job(tmp_path, "many", PARENT_OF_MANY, environment={TOKEN: str(os.getpid())})
    performed = perform(many)
    assert list(marked(TOKEN, str(os.getpid()))) == []
    check = read(performed)
    assert (check.verdict, check.good, check.bitwise) == ("reproducible", True, True)
    assert left_by(many) == performed
    assert [path.name for path in many.folder.parent.iterdir()] == ["attempt-1"]


def test_the_files_of_a_check_that_was_killed_with_its_guard_are_put_back(tmp_path: Path) -> None:
    writes = "import os, pathlib, signal\npathlib.Path('data.txt').write_text('of a run')\n"
    killed = job(tmp_path, "killed", writes + ALL_AT_ONCE.format(number=9))
    data = killed.target.workdir / "data.txt"
    data.write_text("mine")
    assert perform(killed).exit_status == -9
    assert data.read_text() == "mine"
    assert (killed.folder / "left" / "data.txt").read_text() == "of a run"
    told = tail(killed.folder)
    assert "Files that an earlier check had changed" in told and "put back: data.txt." in told
    assert not (killed.folder / "snapshot").exists()


def test_a_device_is_one_checks_at_a_time(tmp_path: Path) -> None:
    with_gpu = Resources(gpus=1)
    jobs = [job(tmp_path, f"gpu{number}", DEVICES + GOOD, needs=with_gpu) for number in range(3)]
    with LocalExecutor(4, MACHINE) as executor:
        assert [executor.start(one) for one in jobs] == ["", "", "a free device"]
        ended = []
        while executor.busy:
            ended += executor.wait(0.2)
    given = [(one.job.folder / "run-1" / "stdout.log").read_text().strip() for one in ended]
    assert sorted(given) == ["3", "5"]
    assert executor.impossible(Resources(gpus=3)) == "It asks for 3 GPUs, and this machine has 2."


def test_checks_wait_for_cores_and_working_directories(tmp_path: Path) -> None:
    token = f"waits-{os.getpid()}"
    endless = "import time\nwhile True: time.sleep(1)\n"
    first = job(tmp_path, "first", endless, environment={TOKEN: token})
    with LocalExecutor(3, MACHINE) as executor:
        assert executor.start(first) == ""
        assert "working directory" in executor.start(replace(first, place="n/other/attempt-1"))
        large = job(tmp_path, "large", GOOD, needs=Resources(cpus=4))
        assert executor.start(large) == "a free core"
        assert executor.wait(0.0) == []
    assert list(marked(TOKEN, token)) == []
    with LocalExecutor(1, MACHINE) as executor:
        assert executor.start(replace(first, place="n/again/attempt-1")) == ""


def test_a_working_directory_is_claimed_until_what_a_killed_night_left_there_is_gone(
    tmp_path: Path,
) -> None:
    endless = job(tmp_path, "endless", "import time\nwhile True: time.sleep(1)\n")
    claim = claims.claimed(claims.of_folder(endless))
    assert claim is not None
    with UnderWay(endless, claim):
        claim.give_back()  # as the system does it where this process is killed
        assert claims.claimed(claims.of_folder(endless)) is None
    after = claims.claimed(claims.of_folder(endless))
    assert after is not None
    after.give_back()


def test_where_no_report_could_be_made_the_reason_is_said(tmp_path: Path) -> None:
    nothing = replace(job(tmp_path, "nothing", GOOD).target, words=("missing.py",))
    performed = perform(Job(target=nothing, night="n", root=tmp_path, place="n/nothing/attempt-1"))
    check = read(performed)
    assert (check.verdict, check.good) == ("error", False)
    assert "exit status 2" in check.reason
    assert "missing.py" in check.reason
    gone = replace(nothing, workdir=tmp_path / "gone")
    performed = perform(Job(target=gone, night="n", root=tmp_path, place="n/gone/attempt-1"))
    assert read(performed).reason == f"There is no folder {tmp_path / 'gone'}."


def test_of_a_script_that_ends_before_it_is_recorded_no_environment_is_known(
    tmp_path: Path,
) -> None:
    check = read(perform(job(tmp_path, "ends", "raise SystemExit(3)\n")))
    assert check.verdict == "script_failed"
    assert (dict(check.key.facts), dict(check.beside), check.curves) == ({}, {}, b"")


def test_a_script_that_fails_is_annotated_where_it_failed(tmp_path: Path) -> None:
    source = (
        "import json, reprocheck\n"
        "def read(text):\n"
        "    return json.loads(text)\n"
        "reprocheck.log_loss(1.0)\n"
        "read('[')\n"
    )
    check = read(perform(job(tmp_path, "fails", source)))
    assert (check.verdict, check.source) == ("script_failed", "train.py:3")
    ends = read(perform(job(tmp_path, "ends", "raise SystemExit(3)\n")))
    assert (ends.verdict, ends.source) == ("script_failed", "")


def test_a_report_travels_as_bytes(tmp_path: Path) -> None:
    done = perform(job(tmp_path, "travels", GOOD))
    there = replace(done.job, root=tmp_path / "there")
    performed = unpacked(packed(done.job), there)
    assert performed == replace(done, job=there)
    assert replace(read(performed), folder="") == replace(read(done), folder="")
    assert [path.name for path in there.folder.parent.iterdir()] == ["attempt-1"]


def test_a_full_disk_is_said_before_a_check_begins(tmp_path: Path) -> None:
    full = replace(job(tmp_path, "full", GOOD), root=Path("/dev/full"))
    with pytest.raises(ReportError, match="cannot be written") as error:
        perform(full)
    assert error.value.fix


def test_the_commit_of_a_folder_has_a_mark_where_files_are_modified(tmp_path: Path) -> None:
    assert commit_of(tmp_path) == ""
    git = "git -c user.name=a -c user.email=a@b"
    os.system(
        f"cd {tmp_path} && git init -q && touch a && git add a && {git} commit -qm 'Add a file'"
    )
    commit = commit_of(tmp_path)
    assert len(commit) == 40
    (tmp_path / "other").touch()
    assert commit_of(tmp_path) == commit
    (tmp_path / "a").write_text("changed")
    assert commit_of(tmp_path) == f"{commit}+"
