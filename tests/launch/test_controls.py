"""Runs under controls as the launcher makes them: the check itself, arms of the search, and what is
read back of them.
"""

from __future__ import annotations

import os
import shutil
import textwrap
from pathlib import Path

import pytest

import reprocheck as package
from reprocheck import launch
from reprocheck.errors import ControlError, ReprocheckError
from reprocheck.fixes import left_state
from reprocheck.launch.workdir.workdir import has_room
from reprocheck.model import Arm, CheckRecord, RunRecord
from reprocheck.model.reason import Reason
from reprocheck.recording import record
from reprocheck.settings import Settings
from reprocheck.trace import read_run

CLEAN = """
    import numpy as np, reprocheck
    rng = np.random.RandomState(0)
    inputs, weights = rng.rand(20, 5), np.zeros(5)
    for step in range(6):
        error = inputs @ weights - inputs[:, 0]
        reprocheck.log_loss(float(error @ error))
        weights -= 0.01 * error @ inputs
"""
RESUMES = """
    import os, random, reprocheck
    random.seed(0)
    start = float(open("state.txt").read()) if os.path.exists("state.txt") else 1.0
    open("state.txt", "w").write(str(start + 1))
    print(open("shown.txt").read() if os.path.exists("shown.txt") else "none")
    for step in range(3):
        reprocheck.log_loss(start + random.random())
"""
ORDERS = """
    import os, reprocheck
    class Node:
        pass
    nodes = {Node(): number for number in range(40)}
    for order in ([nodes[node] for node in set(nodes)], [ord(name[-1]) for name in {f"name-{n}" for n in "abcdefgh"}]):
        reprocheck.log_loss(float(sum(place * number for place, number in enumerate(order))))
    print(os.environ.get("PYTHONHASHSEED"), os.environ.get("TRITON_CACHE_DIR", ""), os.getcwd())
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "work"
    path.mkdir()
    monkeypatch.chdir(path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    for name in ("PYTHONHASHSEED", "OMP_NUM_THREADS", "TORCHINDUCTOR_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    return path


def check(script: str, **settings: object) -> tuple[CheckRecord, Path]:
    """A check of a script in the working directory."""
    Path("train.py").write_text(textwrap.dedent(script))
    entry = launch.entry_point(script="train.py")
    folder = launch.prepare(Path("reports"), entry.name)
    return launch.check(entry, Settings(**settings), folder, launch.Quiet()), folder  # type: ignore[arg-type]


def arm(
    name: str, folder: Path, *controls: str, runs: int = 2, patched: dict[Path, Path] | None = None
) -> Arm:
    """Runs of the same script under controls."""
    entry = launch.entry_point(script="train.py")
    wanted = Arm(name=name, controls=controls, runs=(), reason=Reason(key="suffices"))
    return launch.record_arm(
        *(entry, Settings(), folder, launch.Quiet(), wanted),
        seed=5,
        runs=runs,
        steps=3,
        patched=patched,
    )


def losses(folder: Path, runs: tuple[RunRecord, ...]) -> list[list[float]]:
    """The losses of each run."""
    return [list(read_run(folder, run).traces[0].losses.values) for run in runs]


def printed(folder: Path, run: RunRecord) -> str:
    return (folder / run.stdout).read_text().strip()


def test_controls_of_the_class_same_numbers_leave_a_clean_script_bit_for_bit(work: Path) -> None:
    plain, folder = check(CLEAN, steps=None)
    expected = losses(folder, plain.runs)
    made = arm(
        "same",
        folder,
        "hash-seed",
        "file-order",
        "fresh-workdir",
        "launch-blocking",
        "fixed-addresses",
        runs=2,
    )
    assert [len(values) for values in expected] == [6, 6]
    assert losses(folder, made.runs) == [values[:3] for values in expected]
    assert not read_run(folder, made.runs[0]).problems


def test_a_check_under_controls_says_so_and_tells_what_they_touched(work: Path) -> None:
    made, folder = check(ORDERS, controls=("hash-seed", "fixed-addresses", "seed"), seed=3)
    assert made.controls == ("hash-seed", "fixed-addresses", "seed")
    assert record.read(folder).controls == made.controls
    run = read_run(folder, made.runs[0])
    touches = {(touch.control, touch.what): touch for touch in run.controls.touches}
    assert touches[("hash-seed", "PYTHONHASHSEED")].value == "3"
    refused = dict(run.controls.unavailable)
    if "fixed-addresses" not in refused:
        assert touches[("fixed-addresses", "personality")].count == 1
        first, second = losses(folder, made.runs)
        assert first == second
    assert printed(folder, made.runs[0]).startswith("3 ")
    assert str(work) == printed(folder, made.runs[0]).split()[-1]


def test_a_contradiction_ends_the_check_before_anything_runs(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "random")
    with pytest.raises(
        ControlError, match="PYTHONHASHSEED=random contradicts the control hash-seed, which sets 0"
    ):
        check(CLEAN, controls=("hash-seed",))
    assert not (work / "reports").exists()


def test_an_arm_overrides_and_says_what(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "random")
    _, folder = check(ORDERS)
    made = arm("hash-seed", folder, "hash-seed")
    assert printed(folder, made.runs[0]).startswith("5 ")
    (override,) = read_run(folder, made.runs[1]).controls.overrides
    assert (override.control, override.what, override.old, override.new) == (
        "hash-seed",
        "PYTHONHASHSEED",
        "random",
        "5",
    )


def test_fresh_workdir_starts_each_run_where_the_first_began(work: Path) -> None:
    (work / "shown.txt").write_text("mine")
    plain, folder = check(RESUMES)
    first, second = losses(folder, plain.runs)
    assert second[0] == first[0] + 1 and (work / "state.txt").read_text() == "3.0"
    as_is, fresh = arm("as-is", folder), arm("fresh", folder, "fresh-workdir")
    assert losses(folder, as_is.runs) == [first, second]
    assert losses(folder, fresh.runs) == [first, first]
    assert (work / "state.txt").read_text() == "3.0"
    assert not list(folder.glob("workdir*")) and not (folder / "snapshot").exists()
    assert [printed(folder, run) for run in fresh.runs] == ["mine", "mine"]


def test_fresh_runs_take_place_in_the_folder_where_there_is_no_space_for_a_copy(work: Path) -> None:
    with (work / "large.bin").open("wb") as file:
        file.truncate(shutil.disk_usage(work).free + (1 << 32))
    if has_room(work, [work / "reports"], work):
        pytest.skip("the file system shares the blocks of copies")
    plain, folder = check(RESUMES)
    first, _ = losses(folder, plain.runs)
    fresh = arm("fresh", folder, "fresh-workdir")
    assert losses(folder, fresh.runs) == [first, first]
    assert (fresh.renewed, [run.files.created for run in fresh.runs]) == (
        True,
        [("state.txt",)] * 2,
    )
    assert "new folder at each start" in left_state.fix_of(package.load(folder)), (
        "no copy is advised"
    )
    assert (work / "state.txt").read_text() == "3.0", "as after the check"
    assert sorted(path.name for path in work.iterdir()) == [
        "large.bin",
        "reports",
        "state.txt",
        "train.py",
    ]
    assert not list(folder.glob("workdir*")) and not (folder / "snapshot").exists()


def test_arms_are_kept_and_named_once(work: Path) -> None:
    _, folder = check(CLEAN)
    made = [
        arm(name, folder, *controls)
        for name, controls in (("one", ("clock", "hash-seed")), ("two", ()))
    ]
    kept = record.read(folder).arms
    assert kept == tuple(made)
    assert [one.controls for one in kept] == [("hash-seed", "clock"), ()]
    assert {run.trace for run in kept[0].runs} == {"arms/one/run-1/trace", "arms/one/run-2/trace"}
    assert kept[0].reason == Reason(key="suffices") and not kept[0].patched
    with pytest.raises(ReprocheckError, match="recorded already"):
        arm("two", folder)


def test_a_patched_arm_runs_in_place_with_the_new_text(work: Path, tmp_path: Path) -> None:
    _, folder = check(RESUMES)
    new = tmp_path / "new.py"
    new.write_text((work / "train.py").read_text().replace("start + random.random()", "2 * start"))
    before = (work / "train.py").stat().st_ctime_ns
    made = arm("patch", folder, patched={work / "train.py": new})
    assert losses(folder, made.runs) == [[2.0] * 3, [4.0] * 3], (
        "the second run finds what the first left, as in every pair"
    )
    assert [read_run(folder, run).controls.patched for run in made.runs] == [
        (str(work / "train.py"),)
    ] * 2
    assert made.patched and (work / "train.py").stat().st_ctime_ns == before
    assert (work / "state.txt").read_text() == "3.0", "as after the check"


def test_caches_are_fresh_and_there(work: Path) -> None:
    script = "import os, reprocheck\nprint(os.listdir(os.environ['TRITON_CACHE_DIR']), os.environ['TRITON_CACHE_DIR'], os.environ['TMPDIR'])\n"
    made, folder = check(
        script + "open(os.environ['TRITON_CACHE_DIR'] + '/kernel', 'w').close()\n",
        controls=("fresh-workdir",),
    )
    for run in made.runs:
        listed, cache, temporary = printed(folder, run).split()
        assert listed == "[]" and os.path.dirname(cache) == temporary
