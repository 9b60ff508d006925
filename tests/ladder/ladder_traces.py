"""Deep traces made by hand, and the ladder that two of them give."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.ladder.rungs import ladder_of
from reprocheck.model import (
    Bitwise,
    Check,
    CheckRecord,
    DeeperPair,
    EntryPoint,
    Ladder,
    Outcomes,
    RunRecord,
    Tolerance,
    Verdict,
)
from reprocheck.trace import read_run
from reprocheck.wording.ladder import of_ladder

Event = dict[str, object]
HELLO: Event = {
    "e": "process",
    "v": 1,
    "pid": 10,
    "ppid": 1,
    "time": 100.0,
    "argv": ["train.py"],
    "python": "3.11.2",
    "name": "MainProcess",
}
HASHES: Event = {"e": "fingerprints", "hash": "xxh3_128", "sketch": "signs-2"}


def tensor(
    content: str, shape: Sequence[int] = (2, 3), d: str = "float32", **keys: object
) -> Event:
    return {"h": content, "d": d, "s": list(shape), "z": 1.0, **keys}


def seen(r: str, p: str, i: int = 1, **keys: object) -> Event:
    return {"e": "seen", "r": r, "i": i, "p": p, **keys}


def call(p: str, given: str, returned: str, k: str = "Linear", i: int = 1, **keys: object) -> Event:
    return seen(
        "call", p, i, k=k, **{"in": [["0", tensor(given)]], "out": [["", tensor(returned)]]}, **keys
    )


def out(r: str, p: str, content: str, i: int = 1, **keys: object) -> Event:
    return seen(r, p, i, out=[["0" if r == "outgrad" else "", tensor(content)]], **keys)


def saved(p: str, name: str, content: str, i: int = 1, **keys: object) -> Event:
    return seen("between", p, i, **{"in": [[name, tensor(content, **keys)]]})


def generators(p: str, i: int = 1, **states: str) -> Event:
    return seen("rng", p, i, g=states)


def loss(value: float) -> Event:
    return {"e": "loss", "k": "backward", "v": [value], "d": "float32"}


def update(i: int) -> Event:
    return {"e": "update", "o": 0, "c": True, "i": i}


def training(**changed: str) -> list[Event]:
    """Two iterations of a model `body` -> `noise` -> `head`; `changed` gives other contents by
    name: `weights="w'"`.
    """

    def content(name: str) -> str:
        return changed.get(name, name)

    events: list[Event] = [
        HASHES,
        {"e": "optimizer", "o": 0, "class": "SGD"},
        out(
            "weights",
            "body.weight",
            content("weights"),
            l="train.py:7",
            g={"torch": content("born")},
        ),
        out(
            "weights",
            "head.weight",
            content("weights_of_head"),
            l="train.py:7",
            g={"torch": content("born")},
        ),
        generators("first forward", torch=content("torch"), numpy=content("numpy")),
    ]
    for i in (1, 2):
        forward = "" if i == 1 else content("new weights")
        moved = (
            {
                "g": {"torch": content("torch") + str(i)},
                "g2": {"torch": content("torch") + str(i + 1)},
            }
            if "drop" in changed
            else {}
        )
        events += [
            seen(
                "batch",
                "DataLoader[0]",
                i,
                out=[["0", tensor(content(f"x{i}"))]],
                idx=[1, 2],
                n=["s1", "s2"],
            ),
            call("body", content(f"x{i}"), content("hidden") + forward, i=i),
            call(
                "noise",
                content("hidden_in") + forward,
                content("noisy") + forward,
                k="Noise",
                i=i,
                **moved,
            ),
            call("head", content("noisy") + forward, content("logits") + forward, i=i),
            call("", content(f"x{i}"), content("logits") + forward, k="Model", i=i),
            saved("NllLossBackward0", "target", content("target"), i, shape=(4,), d="int64"),
            out("root", "loss", content("loss") + forward, i),
            loss(1.5),
            out("outgrad", "head", content("d head") + forward, i),
            out("gradient", "head.weight", content("dw head") + forward, i),
            out("outgrad", "noise", content("d noise") + forward, i),
            out("outgrad", "body", content("d body") + forward, i),
            out("gradient", "body.weight", content("dw body") + forward, i),
            seen(
                "hyper",
                "SGD[0]",
                i,
                o=0,
                out=[["lr", {"v": float(content("0.5"))}], ["momentum", {"v": 0.9}]],
            ),
            out("reduced", "body.weight", content("reduced") + forward, i, o=0),
            out("update", "body.weight", content("new") + forward, i, o=0),
            update(i),
        ]
    return events


def changes(events: Sequence[Event], r: str, p: str, i: int = 1, **keys: object) -> list[Event]:
    """With other keys in one fact."""
    assert any((e.get("r"), e.get("p"), e.get("i")) == (r, p, i) for e in events)
    return [
        {**e, **keys} if (e.get("r"), e.get("p"), e.get("i")) == (r, p, i) else e for e in events
    ]


def without(events: Sequence[Event], p: str) -> list[Event]:
    return [e for e in events if e.get("p") != p]


def text(events: Sequence[Event]) -> bytes:
    """As the recorder writes it: without white space."""
    lines = (json.dumps(event, separators=(",", ":")) for event in (HELLO, *events))
    return "".join(f"{line}\n" for line in lines).encode()


def record(number: int, prefix: str) -> RunRecord:
    places = {"trace": f"{prefix}run-{number}/trace", "stdout": "none", "stderr": "none"}
    return RunRecord(
        number=number, ended="completed", exit_status=0, started="", seconds=1.0, **places
    )


def write(folder: Path, run: RunRecord, *ranks: bytes) -> None:
    (folder / run.trace).mkdir(parents=True)
    for rank, content in enumerate(ranks):
        (folder / run.trace / f"{10 + rank}-{100 + rank}.jsonl").write_bytes(content)


def plain(*losses: float) -> bytes:
    return text(
        [
            {"e": "optimizer", "o": 0},
            *(event for n, value in enumerate(losses) for event in (loss(value), update(n + 1))),
        ]
    )


def check_of(
    folder: Path,
    *,
    deeper: tuple[DeeperPair, ...],
    first: tuple[bytes, bytes],
    unequal: int | None = 1,
) -> Check:
    runs = [record(number, "") for number in (1, 2)]
    for run, content in zip(runs, first, strict=True):
        write(folder, run, content)
    verdict = Verdict(
        verdict="not_reproducible",
        failed_check="forward",
        reason="",
        exit_code=1,
        comparisons=(),
        bitwise=Bitwise(equal=unequal is None, first_iteration=unequal),
        first_divergence=None,
        outcomes=Outcomes(groups=(), bound=None, statement=""),
    )
    entry = EntryPoint(command=("python", "train.py"), kind="script", name="train")
    kept = CheckRecord(
        reprocheck_version="0",
        entry_point=entry,
        started="",
        tolerance=Tolerance(),
        settings=(),
        runs=tuple(runs),
        deeper=deeper,
    )
    return Check(record=kept, runs=tuple(read_run(folder, run) for run in runs), verdict=verdict)


def pair_of(
    folder: Path, first: Sequence[bytes], second: Sequence[bytes], level: str = "module"
) -> DeeperPair:
    runs = tuple(record(number, f"{level}/") for number in (1, 2))
    write(folder, runs[0], *first)
    write(folder, runs[1], *second)
    return DeeperPair(level="op" if level == "op" else "module", iterations=2, runs=runs)


def climb(
    folder: Path,
    first: Sequence[Event],
    second: Sequence[Event],
    *,
    level: str = "module",
    **keys: object,
) -> Ladder:
    """The ladder of two runs of one rank."""
    deeper = pair_of(folder, [text(first)], [text(second)], level=level)
    check = check_of(folder, deeper=(deeper,), first=(plain(1.0, 1.0, 1.0), plain(2.0, 2.0, 2.0)))
    return told(replace(check, **keys), folder)  # type: ignore[arg-type]


def told(check: Check, folder: Path) -> Ladder:
    """The ladder of a check, with its sentences."""
    found = ladder_of(check, folder)
    assert found is not None
    return of_ladder(found)


def words(markup: str | None) -> str:
    return re.sub("`", "", markup or "")


def statuses(ladder: Ladder) -> dict[str, str]:
    return {rung.rung: rung.status for rung in ladder.rungs}
