"""What a target is held against its baseline by."""

from __future__ import annotations

import pytest

from reprocheck.suite.baselines import allowed
from reprocheck.suite.baselines.compare import allowed_between
from reprocheck.suite.model import Baseline, Difference, Key

BIT = Difference(series="loss", first_bit=3)
LOOSE = Difference(series="val_loss", first_bit=3, loose=True)
FAR = Difference(series="grad_norm", first_bit=3, beyond=4, loose=True)
IMPORTED = Difference(series="lm loss", beyond=4)
GONE = Difference(series="acc", missing=True)
NEW = Difference(series="lr", new=True)
ALL = (BIT, LOOSE, FAR, IMPORTED, GONE, NEW)


def _baseline(*, bitwise: bool, night: str = "n1", key: str = "") -> Baseline:
    return Baseline(
        target="a",
        key=Key(facts={"torch": key}),
        curves=b"",
        why="",
        who="",
        when=0.0,
        bitwise=bitwise,
        night=night,
    )


@pytest.mark.parametrize(
    ("asked", "bitwise", "allow", "exceeded"),
    [
        (None, True, "bits", (BIT, FAR, IMPORTED, GONE)),
        (None, False, "tolerance", (FAR, IMPORTED, GONE)),
        ("bits", False, "bits", (BIT, LOOSE, FAR, IMPORTED, GONE)),
        ("tolerance", True, "tolerance", (FAR, IMPORTED, GONE)),
        ("noise-floor", True, "tolerance", (FAR, IMPORTED, GONE)),
    ],
)
def test_what_is_further_than_is_allowed(asked, bitwise, allow, exceeded) -> None:
    held = allowed(asked, _baseline(bitwise=bitwise))
    assert held.allow == allow
    assert held.exceeded(ALL) == exceeded


def test_it_is_said_where_no_noise_floor_was_recorded() -> None:
    assert "no noise floor" in allowed("noise-floor", _baseline(bitwise=True)).sentence
    assert "not equal in every bit" in allowed(None, _baseline(bitwise=False)).sentence
    assert allowed(None, _baseline(bitwise=True)).sentence == ""


@pytest.mark.parametrize("asked", [None, "bits", "noise-floor"])
def test_rounded_curves_are_never_held_by_their_bits(asked) -> None:
    held = allowed(asked, _baseline(bitwise=False, night=""))
    assert held.allow == "tolerance"
    assert "fewer digits" in held.sentence
    assert allowed(asked, _baseline(bitwise=True, night="")).sentence != held.sentence


def test_between_two_keys_bits_are_not_asked_for() -> None:
    baseline = _baseline(bitwise=True, key="2.12")
    assert allowed_between("bits", baseline, Key(facts={"torch": "2.13"})).allow == "tolerance"
    assert allowed_between("bits", baseline, Key(facts={"torch": "2.12"})).allow == "bits"
