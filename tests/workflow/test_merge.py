"""`reprocheck merge`: what several machines recorded becomes one run, or an error that says what
does not fit.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.errors import UsageError
from reprocheck.model import DeeperPair
from reprocheck.recording import bundle, record
from reprocheck.trace import read_run
from reprocheck.trace.deep_run import read_deep
from reprocheck.wording import told
from reprocheck.workflow import replay
from reprocheck.workflow.merge import merge
from tests.conftest import reprocheck_here
from tests.recording.recordings import process, recording, training


def node(folder: Path, ranks: dict[int, list[float]], world: int = 4, **keys: object) -> Path:
    """A node with these ranks and their losses.

    Every node has the same process ids, and clocks that are years apart.
    """
    clock = 1e9 * (1 + min(ranks))
    traces = {
        f"{7 + n}-{n}": process(rank, world, training(losses), pid=7 + n, time=clock)
        for n, (rank, losses) in enumerate(ranks.items())
    }
    return recording(folder, traces, **keys)  # type: ignore[arg-type]


def test_ranks_of_two_nodes_become_one_run_whatever_their_clocks_say(tmp_path: Path) -> None:
    late = node(tmp_path / "late", {2: [3.0, 2.0], 3: [4.0, 2.5]}, stdout="late\n")
    first = node(
        tmp_path / "first",
        {0: [1.0, 0.5], 1: [2.0, 1.0]},
        stdout="first\n",
        gone={"7-0": 3.0, "8-1": 4.0},
    )
    merged = merge([late, first], tmp_path / "run.zip")
    assert (merged.nodes, merged.ranks, merged.missing) == (2, (0, 1, 2, 3), ())
    with bundle.opened(tmp_path / "run.zip") as folder:
        check = replay.judged(folder)
        (run,) = check.runs
        assert {trace.rank: list(trace.losses.values) for trace in run.traces} == {
            0: [1.0, 0.5],
            1: [2.0, 1.0],
            2: [3.0, 2.0],
            3: [4.0, 2.5],
        }
        assert [(trace.process.node, trace.process.gone) for trace in run.traces] == [
            (0, 3.0),
            (0, 4.0),
            (1, None),
            (1, None),
        ]
        assert run.stdout_tail == "--- node 0\nfirst\n--- node 1\nlate\n"
        assert check.caveats == ()


def test_what_was_recorded_in_depth_is_merged_where_all_nodes_have_it(tmp_path: Path) -> None:
    places = [node(tmp_path / str(rank), {rank: [1.0, 0.5]}, world=2) for rank in (0, 1)]
    fact = (
        b'{"e":"seen","r":"root","i":1,"p":"loss","out":[["",{"h":"ab","d":"float32","s":[]}]]}\n'
    )
    for rank, place in enumerate(places):
        deep = place / "module" / "run-1"
        (deep / "trace").mkdir(parents=True)
        (deep / "trace" / "9-9.jsonl").write_bytes(process(rank, 2, training([1.0, 0.5])) + fact)
        held = record.read(place)
        run = replace(
            held.runs[0],
            trace="module/run-1/trace",
            stdout="module/run-1/stdout.log",
            stderr="module/run-1/stderr.log",
        )
        pair = DeeperPair(level="module", iterations=2 + rank, runs=(run,), half=True)
        record.write(place, replace(held, deeper=(pair,)))
        (place / "sources.json").write_text(
            json.dumps({"workdir": "/w", "files": {"train.py": str(rank), f"{rank}.py": ""}})
        )
    merge(places, tmp_path / "run.zip")
    with bundle.opened(tmp_path / "run.zip") as folder:
        (pair,) = record.read(folder).deeper
        assert (pair.level, pair.iterations, pair.half) == ("module", 2, True)
        deep_run = read_deep(folder, pair.runs[0])
        assert {
            rank: [seen.kind for seen in deep_run.read(rank).seen if seen.kind == "root"]
            for rank in deep_run.ranks
        } == {
            0: ["root"],
            1: ["root"],
        }
        assert json.loads((folder / "sources.json").read_text())["files"] == {
            "train.py": "0",
            "0.py": "",
            "1.py": "",
        }


def test_the_command(tmp_path: Path) -> None:
    for name, ranks in (("a", {0: [1.0, 0.5]}), ("b", {2: [1.0, 0.5]})):
        node(tmp_path / name, ranks)
    bundle.pack(tmp_path / "b", tmp_path / "b.zip")
    done = reprocheck_here("merge", "a", "b.zip", "-o", "run", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("MERGED  2 nodes, 2 ranks"), (
        done.stdout + done.stderr
    )
    assert "No node has ranks 1 and 3" in done.stderr
    caveats = told(replay.judged(tmp_path / "run")).caveats
    assert (
        "No node that was merged has ranks 1 and 3. If a node is missing, merge again with its recording."
        in caveats
    )
    again = reprocheck_here("merge", "a", "b.zip", "-o", "run", cwd=tmp_path)
    assert again.returncode == 2 and "run exists already" in again.stderr


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"ranks": {1: [1.0]}}, "one and two both have rank 1."),
        (
            {"ranks": {2: [1.0]}, "world": 8},
            "The ranks of one say that they are 4, those of two 8.",
        ),
        (
            {"ranks": {2: [1.0]}, "script": "other.py"},
            "one is a recording of train.py, two one of other.py: these are not parts of one run.",
        ),
        ({"ranks": {2: []}}, "No rank of two recorded a loss."),
        ({"ranks": {2: [1.0]}, "world": 1}, "two has no record of its rank."),
    ],
)
def test_recordings_that_are_not_parts_of_one_run(
    second: dict[str, object], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    node(tmp_path / "one", {0: [1.0], 1: [1.0]})
    node(tmp_path / "two", **second)  # type: ignore[arg-type]
    with pytest.raises(UsageError) as raised:
        merge([Path("one"), Path("two")], Path("run"))
    assert raised.value.message == said and raised.value.fix
    assert not Path("run").exists() and not list(tmp_path.glob(".merge-*"))


def test_nodes_that_may_be_of_two_runs_or_were_recorded_otherwise(tmp_path: Path) -> None:
    one, two = (
        node(tmp_path / "one", {0: [1.0]}, world=2),
        node(tmp_path / "two", {1: [1.0]}, world=2, steps=5),
    )
    record.write(two, replace(record.read(two), started="2026-01-01T01:00:00+00:00"))
    merge([one, two], tmp_path / "run")
    caveats = record.read(tmp_path / "run").caveats
    assert caveats[0].startswith("The nodes were recorded with different --steps (10, 5)")
    assert (
        caveats[1]
        == "By their clocks, the nodes were started 60 minutes apart. Do they belong to one run?"
    )


def test_one_recording_twice_or_alone_or_merged_before(tmp_path: Path) -> None:
    one, two = node(tmp_path / "one", {0: [1.0]}), node(tmp_path / "two", {1: [1.0]})
    for paths in ([one], [one, tmp_path / "two" / ".." / "one"]):
        with pytest.raises(UsageError):
            merge(paths, tmp_path / "run")
    merge([one, two], tmp_path / "run")
    with pytest.raises(UsageError, match="already merged from several nodes"):
        merge([tmp_path / "run", node(tmp_path / "three", {2: [1.0]})], tmp_path / "all")


def test_a_rank_that_died_on_one_node_while_the_other_waited(tmp_path: Path) -> None:
    killed = node(
        tmp_path / "one",
        {0: [1.0, 0.5], 1: [1.0, 0.5, 0.2]},
        ended="failed",
        status=1,
        stderr="Killed\n",
        gone={"7-0": 3.0, "8-1": 3.1},
    )
    waiting = node(
        tmp_path / "two",
        {2: [1.0, 0.5, 0.2], 3: [1.0, 0.5, 0.2]},
        ended="timed_out",
        status=-15,
        stderr="slow\n",
    )
    merge([killed, waiting], tmp_path / "run")
    check = told(replay.judged(tmp_path / "run"))
    assert check.runs[0].record.ended == "failed" and check.runs[0].stderr_tail.endswith(
        "--- node 0\nKilled\n"
    )
    assert (
        "on node 0 rank 0 ended first, after iteration 2, killed by a signal"
        in check.verdict.reason
    )


def test_a_file_that_another_machine_wrote_was_not_left_by_an_earlier_run(tmp_path: Path) -> None:
    opened = [
        {"e": "open", "p": "cache", "m": mode, "time": time}
        for mode, time in (("w", 5e9), ("r", 6e9))
    ]
    traces = [process(rank, 2, [opened[rank], *training([1.0])], time=1.0) for rank in (0, 1)]
    one, two = (recording(tmp_path / str(rank), {"7-7": traces[rank]}) for rank in (0, 1))
    # the clock of the reader is behind: by time it read the file first
    (two / "run-1" / "trace" / "7-7.jsonl").write_bytes(traces[1].replace(b"6000000000.0", b"1.0"))
    merge([one, two], tmp_path / "run")
    run = replay.judged(tmp_path / "run").record.runs[0]
    assert read_run(tmp_path / "run", run).opened == ()
