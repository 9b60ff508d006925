"""`reprocheck suite history`: tables, JSON and files."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import pandas as pd
import pytest

from reprocheck.cli import main
from reprocheck.model import LossSeries, Series
from reprocheck.suite.curves import pack
from reprocheck.suite.history import open_history
from reprocheck.suite.model import Key, RankSeries, State, TargetState
from tests.suite.history.nights import KEY, check, night

SUITE = """
[[target]]
name = "resnet"
run = "train.py"
[[target]]
name = "bert"
run = "train.py"
"""
NEWER = Key(facts={**KEY.facts, "torch": "2.14.0.dev20261105+cpu", "cudnn": "9.1"})
TENTH = 0.1
LOSSES = LossSeries(
    values=array("d", [1.5, TENTH]),
    dtype_of=array("B", [0, 0]),
    dtypes=("float64",),
    ends=array("q", [1, 2]),
    exact={0: "3/2"},
)
CURVES = pack(
    [
        RankSeries(
            rank=3,
            series=Series(
                name="val_loss",
                by="tensorboard",
                numbers=LOSSES,
                iterations=array("q", [5, 6]),
                steps=array("d", [float("nan"), 200.0]),
            ),
        )
    ]
)
OF_BERT: dict[int, State] = {4: "drift"}
STATES = {1: "new target", 2: "unchanged", 3: "intermittent", 4: "not run", 5: "new failure"}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five nights of two targets: one is well, the other has been through something."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "reprocheck.toml").write_text(SUITE)
    with open_history(f"sqlite:///{folder}/nightly/history.sqlite") as history:
        for day, state in STATES.items():
            one = night(day, targets=("bert", "resnet"))
            history.begin_night(one)
            history.add(check(one, "bert", seconds=12345.678, curves=CURVES))
            history.put_states(
                [
                    TargetState(night=one.id, target="resnet", state=state, failed=day == 5),  # type: ignore[arg-type]
                    TargetState(night=one.id, target="bert", state=OF_BERT.get(day, "unchanged")),
                ]
            )
        history.add(check(night(1), "resnet"))
        history.add(check(night(2), "resnet", bitwise=None, causes=("RC302", "RC101")))
        history.add(check(night(3), "resnet", verdict="timed_out", good=False, bitwise=None))
        history.add(check(night(3), "resnet", attempt=2, bitwise=False, first_bitwise=7))
        failed = check(night(5), "resnet", verdict="not_reproducible", good=False, key=NEWER)
        history.add(failed)
    return folder


@pytest.fixture
def said(suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Runs `reprocheck suite history` in the suite, and returns what it prints."""
    monkeypatch.chdir(suite)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words: str, code: int = 0) -> str:
        assert main(["suite", "history", *words]) == code
        printed = capsys.readouterr()
        return printed.err if code else printed.out

    return run


def test_a_target_is_shown_night_by_night_within_80_columns(said) -> None:  # type: ignore[no-untyped-def]
    assert said("resnet").splitlines() == [
        "night                      verdict           bitwise  state         seconds",
        "2026-11-01T02-00-00Z-0000  reproducible      equal    new target        2.5",
        "2026-11-02T02-00-00Z-0000  reproducible      -        unchanged         2.5",
        "2026-11-03T02-00-00Z-0000  reproducible      from 7   intermittent      2.5",
        "    attempt 1: timed out",
        "2026-11-04T02-00-00Z-0000  -                 -        not run             -",
        "2026-11-05T02-00-00Z-0000  not reproducible  equal    new failure       2.5",
        "    cudnn: none → 9.1",
        "    torch: 2.13.0 → 2.14.0.dev20261105+cpu",
        "",
        "5 nights",
    ]


def test_the_last_nights_alone_are_shown_where_that_is_asked_for(said) -> None:  # type: ignore[no-untyped-def]
    rows = said("resnet", "--last", "1").splitlines()
    assert rows[1].startswith("2026-11-05")
    assert rows[2:4] == ["    cudnn: none → 9.1", "    torch: 2.13.0 → 2.14.0.dev20261105+cpu"]
    assert rows[-1] == "The last 1 of 5 nights; --last 5 shows all."


def test_without_a_target_the_nights_are_shown_with_what_is_to_be_looked_at(said) -> None:  # type: ignore[no-untyped-def]
    assert said("--last", "4").splitlines() == [
        "night                      targets  not good",
        "2026-11-02T02-00-00Z-0000        2         0",
        "2026-11-03T02-00-00Z-0000        2         1",
        "    1 intermittent",
        "2026-11-04T02-00-00Z-0000        1         1",
        "    1 drift, 1 not run",
        "2026-11-05T02-00-00Z-0000        2         1",
        "    1 new failure",
        "",
        "The last 4 of 5 nights; --last 5 shows all.",
    ]


def test_json_has_every_attempt_of_a_target(said) -> None:  # type: ignore[no-untyped-def]
    nights = json.loads(said("resnet", "--format", "json"))
    assert [len(one["attempts"]) for one in nights] == [1, 1, 2, 0, 1]
    assert [one["state"] for one in nights] == list(STATES.values())
    assert nights[4]["failed"] is True
    assert nights[4]["changed"]["torch"] == ["2.13.0", "2.14.0.dev20261105+cpu"]
    assert nights[4]["attempts"][0]["facts"] == NEWER.facts
    assert nights[1]["attempts"][0]["causes"] == ["RC302", "RC101"]


def test_json_of_the_nights_names_what_was_not_good(said) -> None:  # type: ignore[no-untyped-def]
    nights = json.loads(said("--format", "json", "--last", "2"))
    assert nights[1] == {
        "night": night(5).id,
        "targets": 2,
        "not_good": ["resnet"],
        "states": {"bert": "unchanged", "resnet": "new failure"},
    }


def test_checks_are_exported_a_row_each(said, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "checks.csv"
    assert said("--export", str(file)).split()[:2] == ["10", "rows"]
    read = pd.read_csv(file)
    read["started"] = pd.to_datetime(read["started"])
    resnet = read[read["target"] == "resnet"]
    assert list(resnet["attempt"]) == [1, 1, 1, 2, 1]
    assert list(resnet["final"]) == [True, True, False, True, True]
    assert list(resnet["state"]) == [STATES[day] for day in (1, 2, 3, 3, 5)]
    assert list(resnet["first_bitwise"].fillna(0)) == [0, 0, 0, 7, 0]
    assert resnet["causes"].iloc[1] == "RC302,RC101"
    assert json.loads(resnet["facts"].iloc[-1]) == NEWER.facts
    assert resnet["started"].iloc[0] == pd.Timestamp(night(1).started, unit="s", tz="UTC")
    assert list(tmp_path.iterdir()) == [file]


def test_series_are_exported_a_row_a_value_with_every_bit(
    said,
    tmp_path: Path,  # type: ignore[no-untyped-def]
) -> None:
    file = tmp_path / "series.csv"
    said("--series", "--last", "2", "--export", str(file))
    read = pd.read_csv(file)
    assert len(read) == 4
    first, second = (row._asdict() for row in read.head(2).itertuples(index=False))
    assert second == {
        "night": night(4).id,
        "target": "bert",
        "rank": 3,
        "series": "val_loss",
        "by": "tensorboard",
        "iteration": 6,
        "step": 200.0,
        "value": TENTH,
        "dtype": "float64",
        "hex": TENTH.hex(),
    }
    assert pd.isna(first["step"])
    assert first["hex"] == "3/2"


def test_an_export_of_nothing_has_its_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reprocheck.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    with open_history(f"sqlite:///{tmp_path}/nightly/history.sqlite"):
        pass
    assert main(["suite", "history", "--export", "empty.csv"]) == 0
    frame = pd.read_csv(tmp_path / "empty.csv")
    assert len(frame) == 0
    assert "verdict" in frame.columns


@pytest.mark.parametrize(
    ("words", "error", "fix"),
    [
        (["resnte"], "has no target 'resnte'", "Did you mean resnet?"),
        (["--format", "xml"], "no such format", "text or json"),
        (["--last", "0"], "no number of nights", "1 or more"),
        (["--series"], "none is named", "--export series.csv"),
        (["--export", "checks.xlsx"], "no such export", ".csv"),
        (["--export", "/nowhere/checks.csv"], "cannot be written", "a folder with room"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(
    said,
    words: list[str],
    error: str,
    fix: str,  # type: ignore[no-untyped-def]
) -> None:
    printed = " ".join(said(*words, code=2).split())
    assert error in printed
    assert fix in printed


def test_before_the_first_night_there_is_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "reprocheck.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    assert main(["suite", "history"]) == 2
    assert "reprocheck suite run makes one" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "nightly").exists()
