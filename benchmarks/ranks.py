"""Many ranks, and ranks of many modules: two runs of each compared, the ladder of each rank, all
reports.

The traces are those of a training, written by hand.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import SCRIPTS, python
from benchmarks.table import Row
from reprocheck.model import CheckRecord, DeeperPair, EntryPoint, RunRecord, Tolerance
from reprocheck.recording import record

ITERATIONS, DEEP = 10, 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A training: ranks, blocks of its model (four modules and five weights each), and the rank
    whose gradients differ; the seconds and megabytes that it may take.
    """

    ranks: int
    blocks: int
    faulty: int
    seconds: float = 60
    megabytes: float = 1024


SHAPES = (
    Shape(ranks=256, blocks=12, faulty=131, seconds=10, megabytes=256),
    Shape(ranks=2, blocks=2_500, faulty=1),
)
FULL = (
    Shape(ranks=1_024, blocks=12, faulty=131, seconds=10, megabytes=256),
    Shape(ranks=100, blocks=2_500, faulty=31),
)
"""Their traces take 1 and 19 GB."""
OWN = "@@@@"
"""In a hash, what differs from rank to rank: samples and what follows from them."""

START = (
    '{"e":"framework","name":"torch","version":"2","hooks":{}}\n'
    '{"e":"optimizer","o":0,"class":"AdamW"}\n'
)

Fact = dict[str, object]


def ranks(folder: Path) -> list[Row]:
    """Compare, explain and report; the gradient of one rank differs in run 2."""
    return [row for shape in SHAPES for row in _measured(folder / "ranks", shape)]


def full(folder: Path) -> list[Row]:
    """As `ranks`, at full size."""
    return [row for shape in FULL for row in _measured(folder / "ranks", shape)]


def _measured(folder: Path, shape: Shape) -> list[Row]:
    made = recorded(folder, shape)
    size = sum(path.stat().st_size for path in made.rglob("*.jsonl")) / 2**20
    said = json.loads(python(str(SCRIPTS / "draw.py"), str(made)).stdout)
    shutil.rmtree(made)
    if said["verdict"] != "NOT REPRODUCIBLE (backward)":
        raise RuntimeError(f"the recorded pair was judged {said['verdict']}")
    parts = (
        f"wall time: {said['compare']:.1f} s read, compared and explained, {said['report']:.1f} s"
        f" drawn; {said['cpu']:.1f} s of CPU"
    )
    return [
        Row(
            what=(
                f"{shape.ranks} ranks of {4 * shape.blocks:,} modules in two runs and two at level"
                " `module`, compared, explained and reported"
            ),
            value=said["compare"] + said["report"],
            allowed=shape.seconds,
            unit="s",
            plain=f"{size:.0f} MB of traces",
            how=parts,
        ),
        Row(what="its page", value=said["page"], allowed=1, unit="MB", how="report.html"),
        Row(
            what="its memory",
            value=said["peak"],
            allowed=shape.megabytes,
            unit="MB",
            how="peak resident memory",
        ),
    ]


def recorded(folder: Path, shape: Shape) -> Path:
    """A report folder as `reprocheck run` leaves it."""
    texts = {
        (number, faulty): _deep(shape, number, faulty)
        for number in (1, 2)
        for faulty in (False, True)
    }

    def losses(rank: int, number: int) -> str:
        return _losses(rank / shape.ranks, number)

    def deep(rank: int, number: int) -> str:
        return texts[number, rank == shape.faulty].replace(OWN, f"{rank:04x}")

    runs = tuple(_run(folder, f"run-{number}", number, shape.ranks, losses) for number in (1, 2))
    deeper = tuple(
        _run(folder, f"module/run-{number}", number, shape.ranks, deep) for number in (1, 2)
    )
    made = CheckRecord(
        reprocheck_version="0",
        entry_point=EntryPoint(
            command=("torchrun", "--nproc-per-node", str(shape.ranks), "train.py"),
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


def _run(
    folder: Path, place: str, number: int, ranks: int, events: Callable[[int, int], str]
) -> RunRecord:
    trace = folder / place / "trace"
    trace.mkdir(parents=True)
    for rank in range(ranks):
        hello = {
            "e": "process",
            "v": 1,
            "pid": 1000 + rank,
            "ppid": 1,
            "time": 1.0,
            "argv": ["python", "train.py"],
            "python": "3.11.0",
        }
        hello |= {"name": "MainProcess", "how": "start", "rank": rank, "world": ranks}
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


def _losses(share: float, number: int) -> str:
    """From the second iteration on all ranks differ: their gradients are averaged. `share` tells
    the losses of the ranks apart.
    """
    lines = []
    for iteration in range(1, ITERATIONS + 1):
        loss = (2.0 + share) / iteration * (1.05 if number == 2 and iteration > 1 else 1.0)
        lines.append(_loss(loss) + _update(iteration))
    return "".join(lines)


def _loss(value: float | str) -> str:
    return f'{{"e":"loss","k":"backward","v":[{value}],"d":"float32"}}\n'


def _update(iteration: int) -> str:
    return f'{{"e":"update","o":0,"c":{"true" if iteration == 1 else "null"},"i":{iteration}}}\n'


# ------------------------------------------------------------------------------------- level module


def _deep(shape: Shape, number: int, faulty: bool) -> str:
    """What a rank records in run `number` at level `module`: in run 2 the faulty rank has other
    gradients, and all ranks what they give.
    """
    names = [name for block in range(shape.blocks) for name in _weights(block)]
    lines = ['{"e":"fingerprints","hash":"xxh3_128","sketch":"signs-2"}\n']
    lines += [_line("weights", name, 0, name, g={"torch": "s0"}) for name in names]
    for iteration in range(1, DEEP + 1):
        lines += _iteration(shape, iteration, number == 2, faulty)
    return "".join(lines)


def _iteration(shape: Shape, iteration: int, second: bool, faulty: bool) -> Iterator[str]:
    before = f" in {iteration}" + (" of run 2" if second and iteration > 1 else "")
    after = f" in {iteration}" + (" of run 2" if second else "")
    calls = [
        f"blocks.{block}.{part}"
        for block in range(shape.blocks)
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
        block = int(call.split(".")[1])
        local = after if faulty and block <= shape.blocks // 2 else before
        yield _line("outgrad", call, iteration, f"d {call}{local}", own=True)
        for name in (name for name in _weights(block) if name.startswith(call + ".")):
            yield _line("gradient", name, iteration, f"dw {name}{local}", own=True)
    yield _line(
        "hyper", "AdamW[0]", iteration, "", o=0, out=[["lr", {"v": 0.001}], ["betas.0", {"v": 0.9}]]
    )
    names = [name for block in range(shape.blocks) for name in _weights(block)]
    for name in names:
        yield _line("reduced", name, iteration, f"reduced {name}{after}", o=0)
    for name in names:
        for state in ("", ":exp_avg", ":exp_avg_sq"):
            yield _line("update", name + state, iteration, f"new {name}{state}{after}", o=0)
    yield _update(iteration)


def _weights(block: int) -> list[str]:
    parts = ("norm.weight", "norm.bias", "attention.weight", "up.weight", "down.weight")
    return [f"blocks.{block}.{part}" for part in parts]


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
    numbers = hashlib.shake_128(content.encode()).digest(64)
    sketch = base64.b64encode(struct.pack("<64f", *(one - 127.5 for one in numbers))).decode()
    return {
        "h": (OWN if own else "") + digest[len(OWN) if own else 0 :],
        "d": "float32",
        "s": [256, 256],
        "k": sketch,
        "z": 8.0,
    }
