"""What a run gets, and what is recorded of how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from reprocheck import launch
from reprocheck.errors import EntryPointError, ReportError
from reprocheck.launch.run import environment, run as run_module
from reprocheck.launch.run.tail import TraceTail
from reprocheck.launch.run.variables import added_variables, free_ports
from reprocheck.launch.workdir import snapshot, workdir
from reprocheck.recording import record
from reprocheck.settings import Settings
from tests.launch.conftest import Listener, Place


@pytest.mark.parametrize(
    ("text", "status", "ended"),
    [
        ("pass", 0, "completed"),
        ("import sys; sys.exit(3)", 3, "failed"),
        ("import os; os._exit(7)", 7, "failed"),
        ("import os; os.kill(os.getpid(), 9)", -9, "failed"),
        ("raise RuntimeError('no')", 1, "failed"),
    ],
)
def test_exit_statuses(place: Place, text: str, status: int, ended: str) -> None:
    result = place.check(text)
    assert [(run.exit_status, run.ended) for run in result.runs] == [(status, ended)] * 2
    assert record.read(place.folder) == result
    assert place.heard.started == [(1, 2), (2, 2)]
    assert tuple(place.heard.ended) == result.runs


def test_the_command_is_started_as_it_stands(place: Place) -> None:
    place.check(
        """
        import json, os, signal, sys
        facts = dict(argv=sys.argv, path=sys.path[0], cwd=os.getcwd(), stdin=sys.stdin.read(), leader=os.getsid(0) == os.getpid(),
                     fds=sorted(os.listdir("/proc/self/fd"))[:3], env=dict(os.environ))
        json.dump(facts, open(os.environ["REPROCHECK_CHILD"] + "/../facts.json", "w"))
        """,
        "--runs",
        "7",
        "a b",
    )
    facts = json.loads((place.folder / "run-1" / "facts.json").read_text())
    other = json.loads((place.folder / "run-2" / "facts.json").read_text())
    assert facts["argv"] == ["train.py", "--runs", "7", "a b"]
    assert facts["path"] == facts["cwd"] == str(place.path)
    assert facts["stdin"] == ""
    assert facts["leader"]
    ours = {"REPROCHECK_CHILD", "PYTHONPATH", "TMPDIR"}
    plain = {key: value for key, value in facts["env"].items() if key not in ours}
    assert plain == {key: value for key, value in os.environ.items() if key not in ours}
    assert facts["env"]["TMPDIR"] == other["env"]["TMPDIR"]
    assert not Path(facts["env"]["TMPDIR"]).exists()


def test_temporary_files_do_not_reach_the_next_run(place: Place) -> None:
    result = place.check(
        """
        import os, tempfile
        assert os.listdir(tempfile.gettempdir()) == []
        open(os.path.join(tempfile.gettempdir(), "cache"), "w").close()
        """
    )
    assert [run.ended for run in result.runs] == ["completed", "completed"]


def test_thirty_megabytes_of_output(place: Place) -> None:
    place.check(
        "import sys\nfor _ in range(300): sys.stdout.write('x' * 99 + '\\n' * 1 + 'y' * 99900); sys.stderr.write('e' * 1000)"
    )
    assert (place.folder / "run-2" / "stdout.log").stat().st_size == 300 * 100_000
    assert (place.folder / "run-2" / "stderr.log").stat().st_size == 300_000


def test_any_bytes_pass_to_the_log(place: Place) -> None:
    data = bytes(range(256)) + b"\x1b[31m<b>\xff\xfe</b>\n"
    place.check(f"import sys; sys.stdout.buffer.write({data!r})")
    assert (place.folder / "run-1" / "stdout.log").read_bytes() == data


def test_a_script_that_closes_stdout(place: Place) -> None:
    result = place.check("import os; os.close(1); os.close(2)")
    assert result.runs[0].ended == "completed"


def test_output_is_streamed_on_request(place: Place) -> None:
    heard: list[tuple[str, bytes]] = []
    place.check(
        "import sys; print('out'); print('err', file=sys.stderr)",
        output=lambda *said: heard.append(said),
        show_output=True,
    )
    assert sorted(heard) == [("stderr", b"err\n")] * 2 + [("stdout", b"out\n")] * 2


def test_names_in_logs_are_masked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/zoë.miller")
    monkeypatch.setenv("LOGNAME", "zoë.miller")
    place.check("print('/home/zoë.miller/data https://u:p@host.org/x', 'é'.encode('latin-1'))")
    text = (place.folder / "run-1" / "stdout.log").read_text()
    assert text == "~/data https://<credentials>@host.org/x b'\\xe9'\n"
    assert place.heard.masked == [1, 2]


STOPS = """
    import os, json, time
    path = os.path.join(os.environ["REPROCHECK_CHILD"], "1-1.jsonl")
    def say(**event):
        with open(path, "a") as file: file.write(json.dumps(event, separators=(",", ":")) + "\\n")
    say(e="optimizer", o=0)
    for i in range(1, 4):
        say(e="loss", k="backward", v=[0.5, i], d="float32")
        say(e="update", o=0, c=True, i=i)
    say(e="stop", i=3)
"""


def test_an_early_stop_is_seen_and_progress_is_told(place: Place) -> None:
    result = place.check(STOPS + "    os._exit(5)\n")
    assert [run.ended for run in result.runs] == ["stopped", "stopped"]
    assert (2, 3, 3.5) in place.heard.steps


def test_a_command_that_goes_on_after_the_stop_is_ended(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "STOP_GRACE", 0.3)
    result = place.check(STOPS + "    time.sleep(600)\n")
    assert [run.ended for run in result.runs] == ["stopped", "stopped"]


LEAVES = """
    import os, signal, subprocess, sys, time
    from pathlib import Path

    def is_read_by(reader, name):
        opened = Path(f"/proc/{reader}/fd").iterdir()
        return any(os.path.realpath(path).endswith(name) for path in opened)

    if len(sys.argv) > 1:
        path = os.path.join(os.environ["REPROCHECK_CHILD"], f"{os.getpid()}-1.jsonl")
        with open(path, "a", buffering=1) as file:
            file.write('{"e":"loss","k":"backward","v":[0.5],"d":"float32"}\\n')
            while not is_read_by(sys.argv[1], path):
                time.sleep(0.01)
            file.write('{"e":"stop","i":1}\\n')
        os._exit(0)
    signal.signal(signal.SIGINT, lambda *_: os._exit(3))
    guard = Path(f"/proc/{os.getppid()}/stat").read_text()
    ours = guard.rpartition(")")[2].split()[1]
    subprocess.run([sys.executable, "-S", "-E", __file__, ours])
    time.sleep(600)
"""
"""A rank that leaves once reprocheck reads its trace, and a launcher that goes on without it."""


def test_a_launcher_that_waits_for_ranks_that_are_gone_is_ended_soon(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "STOP_GRACE", 600)
    monkeypatch.setattr(run_module, "GONE_GRACE", 0.3)
    result = place.check(LEAVES)
    assert [(run.ended, run.exit_status) for run in result.runs] == [("stopped", 3), ("stopped", 3)]


def test_ranks_that_are_gone_do_not_end_a_second_stage(tmp_path: Path) -> None:
    rank = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    trace = tmp_path / f"{rank.pid}-1.jsonl"
    trace.write_text('{"e":"loss","v":[1.0]}\n')
    tail = TraceTail(tmp_path)
    tail.look()
    with trace.open("a") as file:
        file.write('{"e":"stop","i":1}\n')
    tail.look()
    assert tail.all_stopped and not tail.all_gone, "it has not left yet"
    rank.communicate(b"\n")
    assert tail.all_gone
    (tmp_path / f"{os.getpid()}-2.jsonl").write_text('{"e":"process"}\n')
    tail.look()
    assert tail.all_stopped and not tail.all_gone, "a process has begun since"

    never_seen = tmp_path / "other"
    never_seen.mkdir()
    (never_seen / f"{rank.pid}-1.jsonl").write_text(trace.read_text())
    tail = TraceTail(never_seen)
    tail.look()
    assert tail.all_stopped and not tail.all_gone, (
        "its id may mean nothing on this side of a container"
    )


def test_the_loss_that_is_shown_is_that_of_the_first_rank(tmp_path: Path) -> None:
    tail = TraceTail(tmp_path)
    assert tail.loss is None
    for name, rank, loss in (("7-1", "null", 7.0), ("8-1", "1", 8.0), ("9-1", "0", 9.0)):
        (tmp_path / f"{name}.jsonl").write_text(
            f'{{"e":"process","rank":{rank}}}\n{{"e":"loss","v":[{loss}]}}\n'
        )
        tail.look()
        assert tail.loss == loss
    with (tmp_path / "8-1.jsonl").open("a") as file:
        file.write('{"e":"loss","v":[1.0]}\n')
    tail.look()
    assert tail.loss == 9.0, "rank 1 comes after rank 0, whenever it is read"
    with (tmp_path / "7-1.jsonl").open("a") as file:
        file.write('{"e":"rank","rank":0,"world":3}\n{"e":"loss","v":[2.0]}\n')
    tail.look()
    assert tail.loss == 2.0, "a framework knows its rank later than a launcher"


def test_recorder_settings(place: Place) -> None:
    place.check("pass", steps=None)
    settings = json.loads((place.folder / "run-1" / "trace" / "recorder.json").read_text())
    assert settings["steps"] is None
    assert settings["workdir"] == str(place.path)
    assert settings["output"] == str(place.path / "reports")
    assert set(settings["mask"]) == {"home", "user", "host"}


def test_ports_are_fresh_only_where_the_environment_names_one(tmp_path: Path) -> None:
    def added(**user: str) -> dict[str, str]:
        return added_variables(user, trace=tmp_path, tmpdir=tmp_path)

    assert set(added(PYTHONPATH="/lib")) == {"REPROCHECK_CHILD", "PYTHONPATH", "TMPDIR"}
    assert added(PYTHONPATH="/lib")["PYTHONPATH"].endswith(":/lib")
    one, two = added(MASTER_PORT="29500"), added(MASTER_PORT="29500", MASTER_ADDR="127.0.0.1")
    assert (
        one["MASTER_PORT"].isdigit()
        and one["MASTER_PORT"] != "29500"
        and one["MASTER_PORT"] != two["MASTER_PORT"]
    )
    assert "MASTER_PORT" not in added(MASTER_PORT="29500", MASTER_ADDR="10.1.2.3")
    ports = free_ports(5)
    assert len(set(ports)) == 5
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", ports[0]))


def test_a_command_that_cannot_be_started(place: Place) -> None:
    (place.path / "train.sh").write_text("echo no shebang\n")
    (place.path / "train.sh").chmod(0o755)
    entry = launch.entry_point(command=["./train.sh"])
    folder = launch.prepare(place.path / "reports", entry.name)
    with pytest.raises(EntryPointError, match="Exec format error"):
        launch.check(entry, Settings(), folder, place.heard)
    assert not folder.exists()
    assert not (place.path / "reports").exists()


@pytest.mark.parametrize(
    "settings", [Settings(), Settings(workdir="copy"), Settings(workdir="copy", jobs=2)]
)
def test_a_check_of_which_nothing_could_be_run_leaves_no_folder(
    place: Place, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    entry = launch.entry_point(script=place.script("pass"))
    monkeypatch.setattr(environment, "DEV", place.path)
    monkeypatch.setattr(workdir, "copy_tree", full)
    monkeypatch.setattr(snapshot, "keep", full)
    with pytest.raises(ReportError, match="No space left"):
        launch.check(
            entry, settings, launch.prepare(place.path / "reports", entry.name), place.heard
        )
    assert not (place.path / "reports").exists()


def test_a_command_that_removes_itself_keeps_what_its_first_run_left(place: Place) -> None:
    (place.path / "once.sh").write_text("#!/bin/sh\necho first\nrm once.sh\n")
    (place.path / "once.sh").chmod(0o755)
    entry = launch.entry_point(command=["./once.sh"])
    folder = launch.prepare(place.path / "reports", entry.name)
    with pytest.raises(EntryPointError, match="cannot be started"):
        launch.check(entry, Settings(), folder, place.heard)
    assert (folder / "run-1" / "stdout.log").read_text() == "first\n"
    assert [run.number for run in record.read(folder).runs] == [1]
    assert (folder / "before" / "once.sh").read_text().endswith("rm once.sh\n")


def test_the_record_is_masked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place.path.parent))
    result = place.check("pass", str(place.path / "data"), "https://me:secret@example.org/")
    assert result.entry_point.command[-2:] == ("~/work/data", "https://<credentials>@example.org/")
    assert str(place.path.parent) not in (place.folder / "record.json").read_text()


def test_silence_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "SILENT", 0.2)
    place.check("import time; time.sleep(0.8)")
    assert len(place.heard.silences) >= 2
    assert place.heard.silences[0] >= 0.2


class _LosesTheException(Listener):
    """A signal arrives while the loss of an iteration is told, and nobody passes its exception
    on.
    """

    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)


def test_a_signal_whose_exception_was_lost_ends_the_run(place: Place) -> None:
    place.heard = _LosesTheException()
    with pytest.raises(KeyboardInterrupt):
        place.check("import reprocheck, time\nreprocheck.log_loss(1.0)\ntime.sleep(600)\n")
    assert [run.ended for run in place.heard.ended] == ["interrupted"]
    place.heard = Listener()
    place.check("import reprocheck\nreprocheck.log_loss(1.0)\n")
    assert [run.ended for run in place.heard.ended] == ["completed", "completed"]
