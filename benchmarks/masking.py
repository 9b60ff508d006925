"""What it costs to mask the logs of a run: CPU for a megabyte of ordinary text, without a secret.

The kinds of text are those that trainings print. The reference is what it costs to put the same
text into small letters, which each look for a word needs at least.
"""

from __future__ import annotations

import io
import json
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.table import Row
from reprocheck.redaction import mask_stream

SIZE = 32_000_000
"""Bytes of each text."""
ROUNDS = 5
ALLOWED = 10.0
"""Milliseconds of CPU for a megabyte at most: 100 MB a second."""
WHOSE = ("/home/anna", "anna", "gpu07.acme.example")
_OFTEN = (
    "the of and to in that for with was his he it is be by on not are this have from or had an they"
    " which one you were all her she there would their we him been has when who will no more if out"
)
_WORDS = _OFTEN.split()


def _training(draw: random.Random, step: int) -> str:
    return (
        f"[2026-11-22 07:{step // 60 % 60:02}:{step % 60:02},123] INFO epoch {step // 1000} step"
        f" {step} loss {draw.random():.6f} lr 1.00e-04 grad_norm {draw.random() * 5:.3f}\n"
    )


def _tokens(draw: random.Random, step: int) -> str:
    return f"step {step} loss {draw.random():.4f} tokens/s {draw.randint(10**4, 10**5)} keys: 3\n"


def _json(draw: random.Random, step: int) -> str:
    return json.dumps({"step": step, "loss": draw.random(), "at": "2026-11-22T07:40:01"}) + "\n"


def _bar(draw: random.Random, step: int) -> str:
    bar = "#" * (step % 10)
    return f"\r{step % 100:3}%|{bar:<10}| {step}/9 [00:01<00:09, {draw.random():.2f}it/s]"


def _prose(draw: random.Random, step: int) -> str:
    return f"{' '.join(draw.choices(_WORDS, k=14)).capitalize()}.\n"


KINDS: Mapping[str, Callable[[random.Random, int], str]] = {
    "a line a step": _training,
    "a line a step with tokens a second": _tokens,
    "JSON lines": _json,
    "a progress bar": _bar,
    "prose": _prose,
}


def masking(folder: Path) -> list[Row]:
    """Milliseconds of CPU for a megabyte of each kind of text."""
    return [_measured(what, make) for what, make in KINDS.items()]


def _measured(what: str, make: Callable[[random.Random, int], str]) -> Row:
    draw, parts, size = random.Random(0), [], 0
    while size < SIZE:
        parts.append(make(draw, len(parts)).encode())
        size += len(parts[-1])
    text = b"".join(parts)
    small = min(_seconds(text.lower) for _ in range(ROUNDS))
    took = min(_seconds(lambda: _mask(text)) for _ in range(ROUNDS))
    megabytes = len(text) / 1e6
    return Row(
        what=f"CPU to mask a megabyte of a log: {what}",
        value=took / megabytes * 1000,
        allowed=ALLOWED,
        unit="ms",
        plain=f"{small / megabytes * 1000:.2f} ms for small letters",
        how=f"{megabytes / took:.0f} MB a CPU second, {took / small:.0f} × small letters;"
        f" fastest of {ROUNDS} rounds",
    )


def _mask(text: bytes) -> None:
    mask_stream(io.BytesIO(text), io.BytesIO(), *WHOSE, ("pa55-of-anna",))


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
