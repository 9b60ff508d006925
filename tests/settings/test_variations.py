"""The table of variations, and what `--vary` takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.cli.parameters import entry_start, with_defaults
from reprocheck.errors import SettingsError
from reprocheck.settings import controls, load, variations

DEFAULT = [
    "file-order",
    "clock",
    "hash-seed",
    "hostname",
    "user",
    "timezone",
    "locale",
    "path",
    "tmpdir",
    "home",
    "memory",
    "address",
    "arrival",
    "umask",
    "columns",
    "stdin",
]
ON_REQUEST = ["threads", "workers", "processors", "cpu"]
TAKES_VALUE = {"--vary": True, "--runs": True, "--quiet": False}


def test_the_table_names_controls_that_there_are() -> None:
    rows = variations.table()
    assert [row.name for row in rows] == [*DEFAULT, *ON_REQUEST]
    assert [row.name for row in rows if row.default] == DEFAULT
    known = {row.name for row in controls.table()}
    assert {row.control for row in rows if row.control} <= known


@pytest.mark.parametrize(
    ("words", "start", "ours"),
    [
        (["--vary", "train.py"], 1, ["--vary=default"]),
        (["--vary", "file-order,clock", "train.py"], 2, ["--vary", "file-order,clock"]),
        (["--vary", "--runs", "3", "train.py"], 3, ["--vary=default", "--runs", "3"]),
        (["--vary=all", "train.py", "--vary"], 1, ["--vary=all"]),
        (["--vary", "--", "torchrun", "train.py"], 1, ["--vary=default"]),
    ],
)
def test_vary_may_stand_alone(words: list[str], start: int, ours: list[str]) -> None:
    assert entry_start(words, TAKES_VALUE) == start
    assert list(with_defaults(words[:start])) == ours


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (True, DEFAULT),
        ("1", DEFAULT),
        (["clock", "file-order"], ["file-order", "clock"]),
        ("all", [*DEFAULT, *ON_REQUEST]),
        ("none", []),
        (False, []),
    ],
)
def test_what_a_setting_takes(value: object, names: list[str], tmp_path: Path) -> None:
    held = load({"vary": value}, tmp_path, {}, files=False)
    assert list(held.vary) == names


def test_values_depend_on_seed_and_run_alone() -> None:
    def values(seed: int, run: int) -> tuple[object, object]:
        point = variations.Point(seed=seed, run=run)
        made = variations.varied(variations.named(["all"]), {}, (), point)
        return made.environment, made.told

    assert values(7, 3) == values(7, 3)
    assert values(7, 2) == values(8, 2)
    assert len({str(values(seed, run)) for seed in (7, 8) for run in (2, 3, 4)}) == 5


def test_one_may_be_left_out(tmp_path: Path) -> None:
    held = load({"vary": "default", "vary_not": ["home", "path"]}, tmp_path, {}, files=False)
    assert list(held.vary) == [name for name in DEFAULT if name not in ("home", "path")]


def test_an_unknown_name_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load({"vary": "clok"}, tmp_path, {}, files=False)
    assert "Did you mean clock?" in caught.value.fix


def test_a_home_holds_links_to_what_was_downloaded(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    (theirs / ".cache" / "torch").mkdir(parents=True)
    (theirs / "notes").mkdir()
    variations.make_home(tmp_path / "home", {"HOME": str(theirs)})
    assert (tmp_path / "home" / ".cache" / "torch").is_symlink()
    assert sorted(path.name for path in (tmp_path / "home").iterdir()) == [".cache"]
