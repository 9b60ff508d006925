"""256 ranks: two runs of each compared, the ladder of each rank, all reports.

The traces are those of a training, written by hand.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.processes import SCRIPTS, python
from benchmarks.table import Row
from reprocheck.model import CheckRecord, DeeperPair, EntryPoint, RunRecord, Tolerance
from reprocheck.recording import record

RANKS, ITERATIONS, DEEP = 256, 10, 2
BLOCKS = 12
"""Blocks of the model: four modules and five weights each."""
FAULTY = 131
OWN = "@@@@"
"""In a hash, what differs from rank to rank: samples and what follows from them."""

START = (
    '{"e":"framework","name":"torch","version":"2","hooks":{}}\n'
    '{"e":"optimizer","o":0,"class":"AdamW"}\n'
)

Fact = dict[str, object]


def ranks(folder: Path) -> list[Row]:
    """Compare, explain and report; the gradient of one rank differs in run 2."""
    made = recorded(folder / "ranks")
    said = json.loads(python(str(SCRIPTS / "draw.py"), str(made)).stdout)
    if said["verdict"] != "NOT REPRODUCIBLE (backward)":
        raise RuntimeError(f"the recorded pair was judged {said['verdict']}")
    parts = (
        f"wall time: {said['compare']:.1f} s read, compared and explained, {said['report']:.1f} s"
        f" drawn; {said['cpu']:.1f} s of CPU"
    )
    size = sum(path.stat().st_size for path in made.rglob("*.jsonl")) / 2**20
    return [
        Row(
            what=(
                f"{RANKS} ranks in two runs and two at level `module`, compared, explained and"
                " reported"
            ),
            value=said["compare"] + said["report"],
            allowed=20,
            unit="s",
            plain=f"{size:.0f} MB of traces",
            how=parts,
        ),
        Row(what="its page", value=said["page"], allowed=3, unit="MB", how="report.html"),
        Row(
            what="its memory",
            value=said["peak"],
            allowed=None,
            unit="MB",
            how="peak resident memory",
        ),
    ]


def recorded(folder: Path) -> Path:
    """A report folder as `reprocheck run` leaves it."""
    runs = tuple(_run(folder, f"run-{number}", number, _losses) for number in (1, 2))
    texts = {
        (number, faulty): _deep(number, faulty) for number in (1, 2) for faulty in (False, True)
    }

    def deep(rank: int, number: int) -> str:
        return texts[number, rank == FAULTY].replace(OWN, f"{rank:04x}")

    deeper = tuple(_run(folder, f"module/run-{number}", number, deep) for number in (1, 2))
    made = CheckRecord(
        reprocheck_version="0",
        entry_point=EntryPoint(
            command=("torchrun", "--nproc-per-node", str(RANKS), "train.py"),
            kind="command",
            name="train",
        ),
        started="2026-01-01T00:00:00+00:00",
        tolerance=Tolerance(),
        settings=(),
        runs=runs,
        deeper=(DeeperPair(level="module", iterations=DEEP, runs=deeper),),
    )
    record.write(folder, made)
    return folder


def _run(folder: Path, place: str, number: int, events: Callable[[int, int], str]) -> RunRecord:
    trace = folder / place / "trace"
    trace.mkdir(parents=True)
    for rank in range(RANKS):
        hello = {
            "e": "process",
            "v": 1,
            "pid": 1000 + rank,
            "ppid": 1,
            "time": 1.0,
            "argv": ["python", "train.py"],
            "python": "3.11.0",
        }
        hello |= {"name": "MainProcess", "how": "start", "rank": rank, "world": RANKS}
        text = json.dumps(hello) + "\n" + START + events(rank, number) + '{"e":"exit"}\n'
        (trace / f"{1000 + rank}-{rank}.jsonl").write_text(text, encoding="ascii")
    for name in ("stdout", "stderr"):
        (trace.parent / f"{name}.log").write_text("", encoding="ascii")
    return RunRecord(
        number=number,
        ended="completed",
        exit_status=0,
        started="2026-01-01T00:00:00+00:00",
        seconds=1.0,
        trace=f"{place}/trace",
        stdout=f"{place}/stdout.log",
        stderr=f"{place}/stderr.log",
    )


def _losses(rank: int, number: int) -> str:
    """From the second iteration on all ranks differ: their gradients are averaged."""
    lines = []
    for iteration in range(1, ITERATIONS + 1):
        loss = (2.0 + rank / RANKS) / iteration * (1.05 if number == 2 and iteration > 1 else 1.0)
        lines.append(_loss(loss) + _update(iteration))
    return "".join(lines)


def _loss(value: float | str) -> str:
    return f'{{"e":"loss","k":"backward","v":[{value}],"d":"float32"}}\n'


def _update(iteration: int) -> str:
    return f'{{"e":"update","o":0,"c":{"true" if iteration == 1 else "null"},"i":{iteration}}}\n'


# ------------------------------------------------------------------------------------- level module


def _deep(number: int, faulty: bool) -> str:
    """What a rank records in run `number` at level `module`: in run 2 the faulty rank has other
    gradients, and all ranks what they give.
    """
    lines = ['{"e":"fingerprints","hash":"xxh3_128","sketch":"signs-2"}\n']
    lines += [_line("weights", name, 0, name, g={"torch": "s0"}) for name in _weights()]
    for iteration in range(1, DEEP + 1):
        lines += _iteration(iteration, number == 2, faulty)
    return "".join(lines)


def _iteration(iteration: int, second: bool, faulty: bool) -> Iterator[str]:
    before = f" in {iteration}" + (" of run 2" if second and iteration > 1 else "")
    after = f" in {iteration}" + (" of run 2" if second else "")
    calls = [
        f"blocks.{block}.{part}"
        for block in range(BLOCKS)
        for part in ("norm", "attention", "up", "down")
    ]
    yield _line(
        "batch",
        "DataLoader[0]",
        iteration,
        f"x in {iteration}",
        own=True,
        idx=[1, 2, 3, 4],
        n=["a", "b", "c", "d"],
    )
    yield _line("rng", "first forward", iteration, "", g={"torch": "s0", "python": "s1"})
    for earlier, call in zip(["x", *calls], calls, strict=False):
        yield _line(
            "call",
            call,
            iteration,
            f"out {call}{before}",
            own=True,
            given=f"out {earlier}{before}",
            k="Linear",
            c=0,
        )
    yield _line("rng", "before backward", iteration, "", g={"torch": "s0", "python": "s1"})
    yield _line("root", "loss", iteration, f"loss{before}", own=True)
    yield _loss(f"{1 / iteration}")
    for call in reversed(calls):
        local = after if faulty and int(call.split(".")[1]) <= BLOCKS // 2 else before
        yield _line("outgrad", call, iteration, f"d {call}{local}", own=True)
        for name in (name for name in _weights() if name.startswith(call + ".")):
            yield _line("gradient", name, iteration, f"dw {name}{local}", own=True)
    yield _line(
        "hyper", "AdamW[0]", iteration, "", o=0, out=[["lr", {"v": 0.001}], ["betas.0", {"v": 0.9}]]
    )
    for name in _weights():
        yield _line("reduced", name, iteration, f"reduced {name}{after}", o=0)
    for name in _weights():
        for state in ("", ":exp_avg", ":exp_avg_sq"):
            yield _line("update", name + state, iteration, f"new {name}{state}{after}", o=0)
    yield _update(iteration)


def _weights() -> list[str]:
    parts = ("norm.weight", "norm.bias", "attention.weight", "up.weight", "down.weight")
    return [f"blocks.{block}.{part}" for block in range(BLOCKS) for part in parts]


def _line(
    kind: str,
    place: str,
    iteration: int,
    content: str,
    *,
    own: bool = False,
    given: str = "",
    **keys: object,
) -> str:
    fact: Fact = {"e": "seen", "r": kind, "i": iteration, "p": place, **keys}
    if given:
        fact["in"] = [["0", _tensor(given, own=own)]]
    if content:
        fact["out"] = [["" if kind != "outgrad" else "0", _tensor(content, own=own)]]
    return json.dumps(fact, separators=(",", ":")) + "\n"


def _tensor(content: str, *, own: bool) -> Fact:
    digest = hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
    draw = random.Random(content)
    sketch = base64.b64encode(struct.pack("<64f", *(draw.gauss(0, 1) for _ in range(64)))).decode()
    return {
        "h": (OWN if own else "") + digest[len(OWN) if own else 0 :],
        "d": "float32",
        "s": [256, 256],
        "k": sketch,
        "z": 8.0,
    }
