"""Texts of a training in its facts: names and secrets are taken out, and two secrets still differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reprocheck.child.reprocheck_child.deep_levels.facts import Deep
from reprocheck.child.reprocheck_child.recorder.writer import Writer

TOKEN = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


class _Recorder(Writer):
    """Holds what is written."""

    begin, boundaries, workdir = 1, None, "/home/anna/run"

    def __init__(self) -> None:
        super().__init__({"home": "/home/anna", "user": "anna", "host": "box7"})
        self.on_event: list[Any] = []
        self.on_fork: list[Any] = []
        self.on_end: list[Any] = []
        self.written = ""

    def lines(self, take: Callable[[], str]) -> None:
        self.written += take()


@pytest.fixture
def deep() -> Deep:
    return Deep(_Recorder())


def _fact(deep: Deep, **keys: Any) -> dict[str, Any]:
    deep.seen("held", "Adam[0]", **keys)
    deep.flush()
    fact: dict[str, Any] = json.loads(deep.recorder.written.splitlines()[-1])
    return fact


def _leaf(deep: Deep, path: str, text: str) -> Any:
    ((_, leaf),) = _fact(deep, out=[[path, {"v": text}]])["out"]
    return leaf


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("note", TOKEN),
        ("group.by", "klaus@acme.example"),
        ("by", "of anna"),
        ("data", "/home/anna/data"),
        ("passphrase", "Kirschbaum"),
        ("meta.db_password", "two\nlines"),
        ("lines", f"one\n{TOKEN}"),
    ],
)
def test_a_text_that_is_masked_stands_by_its_hash(deep: Deep, path: str, text: str) -> None:
    leaf = _leaf(deep, path, text)
    assert set(leaf) == {"h", "d"} and leaf["d"] == "str"
    assert _leaf(deep, path, text) == leaf
    other = _leaf(deep, path, f"{text} too")
    assert set(other) == {"h", "d"} and other != leaf


def test_other_texts_and_what_is_of_a_kind_stand_as_they_are(deep: Deep) -> None:
    leaves = [["mode", {"v": "min"}], ["net", {"d": "weights", "v": "anna.weight"}], ["", {"v": 1}]]
    assert _fact(deep, out=leaves)["out"] == leaves


def test_keys_and_indices_are_told_apart(deep: Deep) -> None:
    keys = [["klaus@acme.example", {"v": 1}], ["berta@acme.example", {"v": 1}]]
    shown = [path for path, _ in _fact(deep, out=keys)["out"]]
    assert [path[:8] for path in shown] == ["<email> ", "<email> "] and len(set(shown)) == 2
    fact = _fact(deep, idx=["/home/anna/1.png", [2, "klaus@acme.example"], None])
    assert fact["idx"][0] == "~/1.png" and fact["idx"][1] == [2, shown[0]]
