"""A trace that makes its reader do more than its size explains is read up to there."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from reprocheck.trace import events
from reprocheck.trace.origin import MOST_GENERATIONS, ById, Origins
from reprocheck.trace.process import LONGEST_SENTENCE, MOST_SENTENCES, Recorded, read_process
from tests.recording.recordings import process, training

HONEST = process(0, 1, training([0.5, 0.25]))
UPDATE = b'{"e":"update","o":0,"c":true}\n'


def read(folder: Path, content: bytes, column: array[float] | None = None) -> Recorded:
    path = folder / "7-1.jsonl"
    path.write_bytes(content)
    if column is not None:
        path.with_suffix(".losses").write_bytes(column.tobytes())
    return read_process(path)


def losses(count: int) -> bytes:
    return b'{"e":"loss","v":[' + b",".join([b"1"] * count) + b"]}\n" + UPDATE


@pytest.mark.parametrize(
    ("lines", "what"),
    [
        (losses(90_000) * 20, "losses"),
        (b"x\n" * 200_000, "lines that are no events"),
        (b"{}\n" * 200_000, "lines that are no events"),
        (b'{"e":"later"}\n' * 200_000, "lines that are no events"),
    ],
    ids=["losses", "garbage", "objects", "unknown"],
)
def test_what_was_read_before_the_excess_stays_and_the_rest_is_told(
    tmp_path: Path, lines: bytes, what: str
) -> None:
    recorded = read(tmp_path, HONEST + lines + HONEST)
    assert list(recorded.values)[:2] == [0.5, 0.25]
    assert len(recorded.values) < 700_000
    assert recorded.broken_after is not None
    assert recorded.broken.startswith(f"7-1.jsonl holds more {what} than any recording of its size")
    assert "ask whoever made it for another one" in recorded.broken


def test_an_honest_trace_has_no_such_limit(tmp_path: Path) -> None:
    many = process(0, 1, training([0.5] * 20_000))
    garbage = b'{"e":"later","i":1,"value":0.123456789012,"of":"a later reprocheck"}\n' * 20_000
    column = array("d", [0.25]) * 400_000
    stretch = b'{"e":"regular","o":0,"k":"backward","d":"float32","s":0}\n{"e":"irregular"}\n'
    recorded = read(tmp_path, many + garbage + stretch, column)
    assert not recorded.broken
    assert len(recorded.values) == 420_000


def test_a_loss_of_a_column_counts_once(tmp_path: Path) -> None:
    again = b'{"e":"regular","s":0}\n{"e":"irregular","n":3}\n'
    recorded = read(tmp_path, process(0, 1, []) + again * 5_000, array("d", range(10)))
    assert list(recorded.values) == [float(number) for number in range(10)]
    assert len(recorded.problems) <= MOST_SENTENCES + 1


@pytest.mark.parametrize(
    "event",
    [
        b'{"e":"environment","facts":{"a":%s}}\n' % (b"[" * 500 + b"]" * 500),
        b'{"e":"environment","facts":{"a":{"b":1}}}\n',
    ],
    ids=["lists", "object"],
)
def test_a_fact_that_is_nested_is_left_out(tmp_path: Path, event: bytes) -> None:
    recorded = read(tmp_path, HONEST + event + b'{"e":"environment","facts":{"b":"c"}}\n')
    assert recorded.environment == {"b": "c"}
    assert recorded.left_out == 1


def test_sentences_and_names_have_a_length(tmp_path: Path) -> None:
    caveat = b'{"e":"caveat","text":"%s"}\n' % (b"a" * 20_000)
    series = b'{"e":"series","n":"%s","v":1}\n' % (b"b" * 20_000)
    recorded = read(tmp_path, HONEST + caveat + series)
    assert [len(text) for text in recorded.caveats] == [LONGEST_SENTENCE]
    assert [len(one.name) for one in recorded.series.until(9)] == [200]


def test_starts_without_end_are_looked_at_so_far() -> None:
    chain = [
        Recorded(process=events.Process(pid=n + 1, ppid=n, time=float(n)), name=f"{n}-{n}")
        for n in range(2_000)
    ]
    assert len(list(ById(chain).family(chain[-1]))) == MOST_GENERATIONS
    assert len(Origins(chain).of(chain[-1])) == MOST_GENERATIONS + 1
