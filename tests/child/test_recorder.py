"""The recorder in a process: what it writes, what it survives, and what it leaves alone.

No framework is needed here.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.child.recording import interpreters, record
from tests.conftest import CHILD, clean_environment

LOG_THREE = (
    "import reprocheck\nfor value in (3.0, float('nan'), 1 / 3):\n    reprocheck.log_loss(value)\n"
)


def test_values_keep_every_bit_and_non_finite_ones_survive(tmp_path: Path) -> None:
    recording = record(LOG_THREE, tmp_path)
    assert [event["v"] for event in recording.events("loss")] == [[3.0], ["nan"], [1 / 3]]
    assert {event["d"] for event in recording.events("loss")} == {"float64"}
    assert recording.processes[0][-1]["e"] == "exit"


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: Path(path).resolve().name)
def test_every_supported_interpreter_records_without_the_package_installed(
    python: str, tmp_path: Path
) -> None:
    recording = record(LOG_THREE, tmp_path, python=python, flags=("-W", "error"))
    assert (recording.done.returncode, recording.done.stderr) == (0, "")
    assert [event["v"] for event in recording.events("loss")] == [[3.0], ["nan"], [1 / 3]]


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: Path(path).resolve().name)
def test_the_exit_names_the_innermost_line_of_the_users_that_an_exception_came_from(
    python: str, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text("import json\n\ndef read(text):\n    json.loads(text)\n")
    source = "import own\ntry:\n    own.read('{')\nexcept ValueError:\n    own.read('[')\n"
    exit = record(source, tmp_path, python=python).processes[0][-1]
    assert (exit["e"], exit["l"]) == ("exit", "own.py:4")
    assert exit["error"].startswith("JSONDecodeError: ")


def test_a_message_is_masked_before_it_is_cut_and_says_that_it_was(tmp_path: Path) -> None:
    source = f"raise ValueError({'x' * 272!r} + ' mail ann.example@acme.com and more')\n"
    error = record(source, tmp_path).processes[0][-1]["error"]
    assert error == f"ValueError: {'x' * 272} mail <email> an…"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("import broken\n", "broken.py:2"),
        ("x = 1\nx = (\n", "script.py:2"),
        ("x = 1\nexec('raise ValueError')\n", "script.py:2"),
        ("x = 1\nraise SyntaxError('x')\n", "script.py:2"),
        ("import sys\nsys.exit('no data')\n", None),
        ("pass\n", None),
    ],
)
def test_code_that_cannot_be_parsed_names_its_line_and_an_exit_none(
    source: str, line: str | None, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("x = 1\nx = = 2\n")
    exit = record(source, tmp_path).processes[0][-1]
    assert (exit["e"], exit.get("l")) == ("exit", line)


def test_early_stop_ends_the_process_past_a_bare_except_and_flushes_output(tmp_path: Path) -> None:
    source = (
        "import reprocheck\nfor step in range(50):\n    try:\n        print('step', step)\n        reprocheck.log_loss(step)\n"
        "    except:\n        pass\n"
    )
    recording = record(source, tmp_path, steps=4)
    assert recording.done.stdout.split() == ["step", "0", "step", "1", "step", "2", "step", "3"]
    assert recording.done.returncode == 0
    stop = recording.processes[0][-1]
    assert (stop["e"], stop["i"]) == ("stop", 4)


def test_a_script_that_replaces_what_the_recorder_uses_does_not_reach_it(tmp_path: Path) -> None:
    mocks = "import builtins, os, time, json\n"
    for name in (
        "builtins.open",
        "os.open",
        "os.write",
        "os.close",
        "os.fstat",
        "os.getpid",
        "time.time",
        "time.time_ns",
        "json.dumps",
    ):
        mocks += f"{name} = None\n"
    recording = record(mocks + LOG_THREE, tmp_path)
    assert recording.done.returncode == 0, recording.done.stderr
    assert len(recording.losses()) == 3
    assert not recording.events("problem")


def test_a_daemon_that_closes_every_descriptor_does_not_get_trace_lines_into_its_files(
    tmp_path: Path,
) -> None:
    source = (
        "import os, reprocheck\nreprocheck.log_loss(1)\nos.closerange(3, 1 << 16)\n"
        "taken = [os.open('user.txt', os.O_RDWR | os.O_CREAT) for _ in range(800)]\nreprocheck.log_loss(2)\n"
    )
    recording = record(source, tmp_path)
    assert recording.losses() == [1.0, 2.0], recording.done.stderr
    assert (tmp_path / "user.txt").read_bytes() == b""


def test_a_fork_writes_a_trace_of_its_own_and_counts_its_own_iterations(tmp_path: Path) -> None:
    source = (
        "import os, reprocheck\nreprocheck.log_loss(1)\nchild = os.fork()\n"
        "for value in (2, 3):\n    reprocheck.log_loss(value + 10 * (child == 0))\nif child: os.waitpid(child, 0)\n"
    )
    recording = record(source, tmp_path, steps=3)
    values = [
        [value for event in process if event["e"] == "loss" for value in event["v"]]
        for process in recording.processes
    ]
    assert values == [[1.0, 2.0, 3.0], [12.0, 13.0]]
    assert [process[0]["how"] for process in recording.processes] == ["start", "fork"]


def test_a_nested_python_and_a_spawned_worker_are_recorded(tmp_path: Path) -> None:
    source = (
        "import multiprocessing, subprocess, sys\ndef work():\n    import reprocheck\n    reprocheck.log_loss(5)\n"
        "if __name__ == '__main__':\n    worker = multiprocessing.get_context('spawn').Process(target=work)\n"
        "    worker.start(); worker.join()\n"
        "    subprocess.run([sys.executable, '-c', 'import reprocheck; reprocheck.log_loss(6)'], check=True)\n"
    )
    assert sorted(record(source, tmp_path).losses()) == [5.0, 6.0]


def test_the_users_own_sitecustomize_still_runs(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text(
        "import builtins\nbuiltins.from_sitecustomize = __file__\n"
    )
    recording = record(
        "import sys; print(from_sitecustomize, sys.modules['sitecustomize'].__file__)",
        tmp_path,
        PYTHONPATH=str(own),
    )
    assert recording.done.stdout.split() == [str(own / "sitecustomize.py")] * 2
    assert len(recording.processes) == 1


def test_an_error_in_the_users_sitecustomize_is_told_as_python_tells_it(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("raise ImportError('from the user')\n")
    assert "from the user" in record("", tmp_path, PYTHONPATH=str(own)).done.stderr


def test_a_module_that_provides_reprocheck_is_not_shadowed(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "reprocheck.py").write_text("mine = True\n")
    assert (
        record(
            "import reprocheck; print(reprocheck.mine)", tmp_path, PYTHONPATH=str(own)
        ).done.stdout
        == "True\n"
    )


def test_files_of_the_working_directory_are_recorded_in_order(tmp_path: Path) -> None:
    source = (
        "open('new.txt', 'w').close()\nopen('new.txt').close()\n"
        + 2 * "open('old.txt').close()\n"
        + "open('/etc/hosts').close()\n"
    )
    (tmp_path / "old.txt").write_text("old")
    opened = [(event["p"], event["m"]) for event in record(source, tmp_path).events("open")]
    assert opened == [("new.txt", "w"), ("new.txt", "r"), ("old.txt", "r")]


def test_log_loss_never_raises_and_a_value_that_is_no_number_is_reported(tmp_path: Path) -> None:
    recording = record(
        "import reprocheck\nreprocheck.log_loss('high')\nreprocheck.log_loss([1, 2])\nprint('on')",
        tmp_path,
    )
    assert recording.done.stdout == "on\n"
    assert [event["where"] for event in recording.events("problem")] == ["log_loss", "log_loss"]


def test_a_folder_without_settings_lets_the_script_run_and_says_so(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.mkdir()
    environment = {**clean_environment(), "REPROCHECK_CHILD": str(trace), "PYTHONPATH": str(CHILD)}
    done = subprocess.run(
        [sys.executable, "-c", "print('on')"], env=environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr, done.returncode) == ("on\n", "", 0)
    assert "start of the recorder" in next(trace.glob("*.jsonl")).read_text()


def test_the_recorder_imports_the_standard_library_only(tmp_path: Path) -> None:
    source = "import sys\nloaded = set(sys.modules)\nprint([name for name in loaded if name.split('.')[0] not in sys.stdlib_module_names])"
    environment = {**clean_environment(), "PYTHONPATH": str(CHILD)}
    bare = subprocess.run(
        [sys.executable, "-c", source], env=environment, capture_output=True, text=True
    )
    more = set(eval(record(source, tmp_path).done.stdout)) - set(eval(bare.stdout))
    assert {name.split(".")[0] for name in more} == {"reprocheck_child"}


def test_no_generator_is_drawn_from_and_no_framework_is_imported(tmp_path: Path) -> None:
    source = (
        "import sys, random\nrandom.seed(1); before = random.getstate()\nimport reprocheck\nreprocheck.log_loss(1)\n"
        "print(before == random.getstate(), sorted({'torch', 'numpy', 'mindspore'} & set(sys.modules)))"
    )
    assert record(source, tmp_path).done.stdout == "True []\n"


REGULAR = """
from reprocheck_child.recorder.current_recorder import RECORDER as recorder
one = recorder.optimizer("SGD")
for step in range(8):
    recorder.scalar(1 / (step + 1), "float32", "backward")
    recorder.update(one, True if step == 0 else None)
{more}
"""


@pytest.mark.parametrize(
    ("more", "losses"),
    [
        ("", [1] * 8),
        ("recorder.scalar(9.0, 'float32', 'backward')", [1] * 9),
        ("import os; os.kill(os.getpid(), 9)", [1] * 8),
        (
            "recorder.scalar(9.0, 'float32', 'backward'); recorder.scalar(8.0, 'float32', 'backward'); recorder.update(one, None)",
            [1] * 8 + [2],
        ),
        ("recorder.scalar(9.0, 'float64', 'backward'); recorder.update(one, None)", [1] * 9),
        (
            "two = recorder.optimizer('SGD'); recorder.scalar(float('nan'), 'float32', 'backward'); recorder.update(two, None)",
            [1] * 9,
        ),
        (
            "recorder.skip(); recorder.scalar(float('inf'), 'float32', 'backward'); recorder.update(one, None)",
            [1] * 9,
        ),
    ],
    ids=[
        "ended",
        "loss without update",
        "killed",
        "accumulated",
        "other dtype",
        "other optimizer",
        "skipped",
    ],
)
def test_a_regular_stretch_reads_back_as_what_was_recorded(
    more: str, losses: list[int], tmp_path: Path
) -> None:
    from reprocheck.trace.process import read_process

    recording = record(REGULAR.format(more=more), tmp_path)
    assert recording.events("regular") and list((tmp_path / "trace").glob("*.losses")), (
        recording.done.stderr
    )
    (file,) = (tmp_path / "trace").glob("*.jsonl")
    recorded = read_process(file)
    ends = [0, *recorded.grouping.ends]
    assert [end - start for start, end in pairwise(ends)] == losses
    assert list(recorded.values)[:8] == [1 / (step + 1) for step in range(8)]
    assert bool(recorded.grouping.skipped) == ("skip" in more)
    assert not recorded.problems
    sampled = [one.i for one in recorded.samples if one.t is not None]
    assert sampled[:8] == list(range(1, 9)), "samples do not end the stretch"
    assert all(one.p and one.m and one.p >= one.m for one in recorded.samples)


def test_the_early_stop_falls_into_a_regular_stretch(tmp_path: Path) -> None:
    recording = record(REGULAR.format(more="print('not reached')"), tmp_path, steps=6)
    assert [event["i"] for event in recording.events("stop")] == [6]
    assert recording.done.stdout == ""
