"""Baselines in a file of the repository."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.suite.baselines import BaselineError
from reprocheck.suite.baselines.accept import accept
from reprocheck.suite.baselines.file import BaselineFile
from reprocheck.suite.history import History, open_history
from reprocheck.suite.history.shards import take_baselines
from reprocheck.suite.model import Key
from tests.suite.baselines.curves import curve
from tests.suite.baselines.histories import check_of

OTHER = Key(facts={"torch": "2.14.0", "options": "train.py"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "baselines.json"


@pytest.fixture
def history(tmp_path: Path, file: Path) -> History:
    return open_history(f"sqlite:///{tmp_path}/history.sqlite", baselines=file)


def accepted(history: History, *values: float, target: str = "small", **more: object) -> None:
    accept(history, [check_of(curve(values), target=target, **more)], "as it should be", "Ada")


def test_what_is_accepted_is_in_the_file_and_read_from_it(
    history: History, file: Path, tmp_path: Path
) -> None:
    accepted(history, 1.0, 0.5, beside={"numpy": "2.4"})
    accepted(history, 1.0, 0.1, target="large")
    with open_history(f"sqlite:///{tmp_path}/another.sqlite", baselines=file) as elsewhere:
        found = elsewhere.baselines()
        assert [one.target for one in found] == ["large", "small"]
        assert [one.curves for one in found] == [one.curves for one in history.baselines()]
        assert {one.why for one in found} == {"as it should be"}
    assert history.baselines("small")[0].environment["numpy"] == "2.4"
    file.unlink()
    assert history.baselines() == ()


def test_each_value_has_its_digits_and_its_bits(history: History, file: Path) -> None:
    accepted(history, 0.1, float("nan"), -2.0)
    assert '"1 - 0.1 0x1.999999999999ap-4"' in file.read_text()
    assert '"2 - nan"' in file.read_text()
    assert '"3 - -2.0 -0x1.0000000000000p+1"' in file.read_text()


def test_a_change_shows_its_numbers_who_why_and_what_it_replaces(
    history: History, file: Path
) -> None:
    accepted(history, 1.0, 0.5, 0.25)
    accepted(history, 3.0, target="large")
    before = file.read_text().splitlines()
    accept(history, [check_of(curve([1.0, 0.5, 0.125]), night="n2")], "a new rate", "Bob")
    changed = [
        line.strip()
        for line in difflib.unified_diff(before, file.read_text().splitlines(), n=0, lineterm="")
        if line[0] in "+-" and line[:3] not in ("+++", "---")
    ]
    removed = [line for line in changed if line[0] == "-"]
    assert len(removed) == 5  # why, who, when, night and one value
    entry = next(
        one for one in json.loads(file.read_text())["baselines"] if one["target"] == "small"
    )
    assert entry["replaces"]["why"] == "as it should be"
    assert entry["replaces"]["night"] == "n1"
    assert entry["replaces"]["differences"] == [
        "loss at 3: 0.25 → 0.125, 8,388,608 ULP, 0.5 relative"
    ]


def test_of_a_target_and_key_there_is_one_and_the_database_has_them_all(
    history: History, file: Path
) -> None:
    for value in (0.5, 0.25):
        accepted(history, 1.0, value)
    accepted(history, 1.0, 0.125, key=OTHER)
    assert len(BaselineFile(file).read()) == 2
    assert len(history.baselines()) == 3
    history.reset("small", OTHER)
    assert [one.key for one in BaselineFile(file).read()] == [check_of().key]
    history.reset("small")
    assert BaselineFile(file).read() == ()


def test_what_others_accepted_stays_byte_for_byte(history: History, file: Path) -> None:
    accepted(history, 1.0, target="large")
    text = file.read_text().replace('"who": "Ada"', '"who": "Grace"')
    file.write_text(text)
    accepted(history, 2.0)
    history.reset("small")
    assert file.read_text() == text


CONFLICT = "<<<<<<< HEAD\n   0\n=======\n   1\n>>>>>>> other"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"why"', '"wy"', "target 'small': Object missing required field `why`"),
        ('"rank": 0', '"rank": "x"', r"target 'small': .*\$\.series\[0\]\.rank"),
        ('"1 - 1.0 ', '"1 ', "target 'small': loss: .* is not ITERATION STEP VALUE"),
        ("- 1.0 ", "- 1.5 ", "target 'small': loss: 1.5 is not 0x1.0"),
        ('"rank": 0', CONFLICT, r"target 'small': line \d+: a merge"),
        ('"who": "Ada",', '"who": "Ada"', r"target 'small': .*line \d+"),
        ('"target": "small",', "", "baseline 1: Object missing required field `target`"),
    ],
)
def test_a_damaged_file_is_one_sentence_with_file_target_and_field(
    history: History, file: Path, old: str, new: str, said: str
) -> None:
    accepted(history, 1.0, 0.5)
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(BaselineError, match=said) as caught:
        history.baselines()
    assert str(file) in caught.value.message
    assert "\n" not in caught.value.message


def test_two_baselines_of_one_target_and_key_are_an_error(history: History, file: Path) -> None:
    accepted(history, 1.0)
    document = json.loads(file.read_text())
    document["baselines"] *= 2
    file.write_text(json.dumps(document))
    with pytest.raises(BaselineError, match="target 'small' has two baselines"):
        history.baselines()


def test_an_empty_file_is_damaged_and_none_has_no_baselines(history: History, file: Path) -> None:
    assert history.baselines() == ()
    file.touch()
    with pytest.raises(BaselineError, match="cannot be read"):
        history.baselines()


def test_a_file_of_somebody_else_is_not_written(history: History, file: Path) -> None:
    file.write_text("{}")
    with pytest.raises(BaselineError, match=re.escape(str(file))):
        accepted(history, 1.0)
    assert file.read_text() == "{}"
    assert replace(check_of(), night="n1").night == "n1"


def test_a_shard_takes_what_the_history_knows_and_leaves_the_file_alone(
    history: History, file: Path, tmp_path: Path
) -> None:
    accepted(history, 1.0, 0.5, beside={"numpy": "2.4"})
    accepted(history, 1.0, 0.25, beside={"numpy": "2.5"})
    before = file.read_bytes()
    with open_history(f"sqlite:///{tmp_path}/shard.sqlite", baselines=file) as shard:
        for _ in range(2):
            take_baselines(shard, history)
            assert shard.baselines() == history.baselines()
            assert shard.recorded_baselines() == history.recorded_baselines()
    assert file.read_bytes() == before
