"""What the culprit was given, recorded where it is asked for; where it cannot be, the report says
why.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reprocheck import launch
from reprocheck.model import Check, DeeperPair, Ladder
from reprocheck.model.replay import Replay, TensorArgument
from reprocheck.recording import record
from reprocheck.replay.values import NAME
from reprocheck.settings import Settings
from reprocheck.workflow import replay
from reprocheck.workflow.escalation import with_operands
from tests.replay.values_file import safetensors
from tests.report.samples import bitwise_equal, forward_fails

SELF = TensorArgument(shape=(2,), strides=(1,), dtype="float32", fill="floats", fingerprint="ab")
OTHER = replace(SELF, shape=(3,), fingerprint="cd")
REPLAY = Replay(
    framework="torch",
    name="aten.mul.Tensor",
    of="operator",
    arguments=(("self", SELF), ("other", OTHER)),
)
FILE = safetensors(self=("F32", [2], array("f", [1, 2])))
ENTRY: Any = None


class Silent:
    """A teller that nobody listens to."""

    output = None

    def status(self, text: str) -> None:
        assert text == "recording what aten.mul.Tensor is given"

    def clear(self) -> None:
        """Nothing is shown."""


def after(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    one: Replay | None,
    file: bytes = b"",
) -> tuple[Check, list[dict[str, Any]]]:
    """A check whose ladder holds this replay, after what was asked for; `file` is what the further
    run records. Also what it was asked for.
    """
    check = forward_fails()
    pair = DeeperPair(level="op", iterations=2, runs=check.record.runs, begin=1)
    check = replace(
        check,
        record=replace(check.record, deeper=(pair,)),
        ladder=Ladder(rungs=(), first=None, replay=one),
    )
    record.write(folder, check.record)
    asked = []

    def recorded(*words: Any, like: DeeperPair, wanted: dict[str, Any], output: object) -> bool:
        asked.append(wanted)
        assert like == pair
        if file:
            words[-1].write_bytes(file)
        return bool(file)

    monkeypatch.setattr(launch, "record_operands", recorded)
    monkeypatch.setattr(replay, "explained", lambda check, folder: check)
    with_operands(check, ENTRY, Settings(), folder, Silent())  # type: ignore[arg-type]
    return replay.with_record(check, folder), asked


def caveat(check: Check) -> str:
    return check.record.caveats[-1]


def test_all_tensors_of_a_known_type_are_asked_for_and_what_is_too_large_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, asked = after(tmp_path, monkeypatch, REPLAY, FILE)
    assert (tmp_path / NAME).read_bytes() == FILE
    assert asked == [
        {"operator": "aten.mul.Tensor", "inputs": {"self": "ab", "other": "cd"}, "most": 20_000_000}
    ]
    assert "values of at most 20 MB are recorded" in caveat(check)
    assert caveat(check).endswith("not those of `other`.")


def test_where_there_are_no_values_the_report_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, asked = after(tmp_path, monkeypatch, None)
    assert not asked and "no operator is known to make the difference" in caveat(check)
    dropout = replace(REPLAY, of="module", name="torch.nn.Dropout")
    check, asked = after(tmp_path, monkeypatch, dropout)
    assert not asked and "no operator" in caveat(check)
    check, asked = after(tmp_path, monkeypatch, replace(REPLAY, arguments=(("p", 0.5),)))
    assert not asked and "is given none" in caveat(check)
    check, asked = after(tmp_path, monkeypatch, REPLAY)
    assert asked and "was not given the same again" in caveat(check)


def test_a_check_that_passes_is_left_as_it_is(tmp_path: Path) -> None:
    check = bitwise_equal()
    assert with_operands(check, ENTRY, Settings(), tmp_path, Silent()) is check  # type: ignore[arg-type]
