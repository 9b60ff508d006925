"""`reprocheck suite merge`: the shards of a night, as a user joins them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.suite.history import open_history
from reprocheck.suite.history.engine import url_of_file
from reprocheck.suite.model import Night
from tests.suite.history.nights import check, night

NAMES = ("t1", "t2", "t3", "t4")
SUITE = "".join(f'[[target]]\nname = "{name}"\nrun = "train.py"\n' for name in NAMES)


def machine(folder: Path, number: int, of: int = 4, **fields: object) -> Path:
    """The suite folder of a machine that ran one shard."""
    whole = night(1)
    name = f"t{number}"
    given = {
        "id": f"{whole.id[:-1]}{number}",
        "targets": NAMES,
        "selected": (name,),
        "shard": f"{number}/{of}",
        **fields,
    }
    one = Night(**{"started": whole.started, "ended": whole.ended, **given})  # type: ignore[arg-type]
    place = f"nights/{one.id}/{name}/attempt-1"
    (folder / place).mkdir(parents=True)
    with open_history(url_of_file(folder / "history.sqlite")) as history:
        history.begin_night(one)
        history.add(check(one, name, folder=place, good=number != 4))
    return folder


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "reprocheck.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What `reprocheck suite merge` prints, in one line."""
    assert main(["suite", "merge", *words]) == code
    printed = capsys.readouterr()
    return " ".join((printed.err if code == 2 else printed.out).split())


def test_shards_become_a_night_with_states_and_reports(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2, 3):
        machine(suite / f"m{number}", number)
    machine(suite / "m4" / "nightly", 4)
    before = {path: path.read_bytes() for path in suite.glob("m*/**/*.sqlite")}

    printed = said(capsys, "m1", "m2/history.sqlite", code=3)
    assert printed == (
        "MERGED 2 new checks, 1 night night 2026-11-01T02-00-00Z-0001:"
        " 2 of 2 targets good; shards 3-4 of 4 are missing pages: nightly/site/index.html"
    )
    printed = said(capsys, "m4", code=1)
    assert "shard 3 of 4 is missing" in printed and "t4 new failure." in printed
    printed = said(capsys, "m3", code=1)
    assert "2026-11-01T02-00-00Z-0001: 3 of 4 targets good pages: " in printed
    assert "4 targets checked: 3 new target, 1 new failure" in printed
    overview = (suite / "nightly" / "site" / "index.html").read_text()
    assert all(f"targets/{name}" in overview for name in NAMES)
    (summary,) = (suite / "nightly").glob("nights/*/summary.md")
    assert "2026-11-01T02-00-00Z-0001" in summary.read_text()
    again = said(capsys, "m1", "m2", "m3", "m4", code=1)
    assert again.startswith("MERGED 0 new checks, 1 night")

    with open_history(url_of_file(suite / "nightly" / "history.sqlite"), create=False) as history:
        (whole,) = history.nights()
        states = {state.target: state.state for state in history.states(night=whole.id)}
        folders = [suite / "nightly" / one.folder for one in history.final(whole.id)]
    assert (whole.shard, whole.selected) == ("", NAMES)
    assert set(states) == set(NAMES)
    assert all(folder.is_dir() and whole.id in folder.parts for folder in folders)
    assert before == {path: path.read_bytes() for path in before}, "a shard is only read"


def test_a_page_of_another_machine_that_could_run_its_scripts_is_drawn_again(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (suite / "train.py").write_text(
        "import reprocheck\nfor step in range(3):\n    reprocheck.log_loss(1.0)\n"
    )
    assert main(["run", "train.py"]) == 0
    report = (suite / "reports" / "latest").resolve()
    own = (report / "report.html").read_bytes()
    hostile = own.replace(b"script-src ", b"script-src 'unsafe-inline' ")
    for number, page in ((1, own), (2, hostile), (3, hostile)):
        (place,) = machine(suite / f"m{number}", number).glob("nights/*/*/*")
        if number < 3:
            shutil.copytree(report, place, dirs_exist_ok=True)
        (place / "report.html").write_bytes(page)
    capsys.readouterr()
    said(capsys, "m1", "m2", "m3", code=3)
    found = {path.parts[-3]: path for path in (suite / "nightly").glob("nights/*/*/*/report.html")}
    assert found["t1"].read_bytes() == own
    assert found["t2"].read_bytes() == own
    assert "t3" not in found, "there is no record to draw it from"


def test_shards_that_share_a_history_are_joined_in_it(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2):
        machine(suite / "nightly", number, of=2)
    assert "2 of 2 targets good" in said(capsys)
    assert said(capsys) == "No two shards of a night are here."


def test_a_shard_that_was_interrupted_is_named_with_the_command_to_go_on(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine(suite / "m1", 1, ended=None)
    printed = said(capsys, "m1", code=3)
    assert "Shard 1/4 did not come to its end" in printed
    assert "reprocheck suite run --resume 2026-11-01T02-00-00Z-0001" in printed


def test_what_is_no_history_is_refused_and_nothing_is_made(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (suite / "m1").mkdir()
    assert "m1 has no history" in said(capsys, "m1", code=2)
    (suite / "m1" / "history.sqlite").write_text("no database" * 1000)
    assert "no readable database" in said(capsys, "m1", code=2)
    assert "m9 has no history" in said(capsys, "m9", code=2)
