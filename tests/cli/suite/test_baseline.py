"""`reprocheck suite baseline`."""

from __future__ import annotations

import json
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

from reprocheck.cli import main
from reprocheck.suite.history import open_history
from reprocheck.suite.model import Key, Night, RankSeries, TargetCheck
from reprocheck.suite.targets import load
from tests.suite.baselines.curves import curve
from tests.suite.baselines.histories import check_of

SUITE = """
[[target]]
name = "large"
run = "train.py"

[[target]]
name = "small"
run = "train.py"
"""
NEVER = '[[target]]\nname = "never"\nrun = "train.py"\n'
SCRIPT = """
import reprocheck
for step in range(3):
    reprocheck.log_loss(1 / (step + 1))
"""
VALUES = [1.5, 1.25, 1.125]
MOVED = [1.5, 1.25, 1.1250001192092896]
"""One unit in the last place of float32 in the last value."""
OTHER_KEY = Key(facts={"torch": "2.14.0"})


def _night(name: str, *checks: TargetCheck) -> None:
    suite = load(Path.cwd())
    suite.folder.mkdir(exist_ok=True)
    names = tuple(check.target for check in checks)
    with open_history(suite.history) as history:
        history.begin_night(Night(id=name, started=0.0, targets=names, selected=names))
        history.add_all(checks)


def _check(night: str, values: list[float], target: str = "small", **more: object) -> TargetCheck:
    return check_of(*_curves(values), night=night, target=target, **more)  # type: ignore[arg-type]


def _curves(values: list[float]) -> tuple[RankSeries, ...]:
    return (curve(values), curve([8.5], "iteration_time", "tensorboard"))


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite with a night whose targets are accepted."""
    place = tmp_path_factory.mktemp("suite")
    (place / "reprocheck.toml").write_text(SUITE)
    (place / "train.py").write_text(SCRIPT)
    with chdir(place):
        _night("n1", _check("n1", VALUES), _check("n1", VALUES, "large"))
        assert _main("accept", "--why", "the first curves") == 0
    return place


@pytest.fixture
def folder(accepted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, for one test."""
    place = tmp_path / "suite"
    shutil.copytree(accepted, place)
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "80")
    return place


def _main(*words: str) -> int:
    return main(["suite", "baseline", *words])


def test_without_a_command_it_prints_what_there_is(capsys) -> None:
    assert _main() == 0
    printed = capsys.readouterr().out
    assert "Usage: reprocheck suite baseline COMMAND" in printed
    for name in ("accept", "show", "diff", "reset", "export", "import"):
        assert f"  {name} " in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_accepting_says_what_is_accepted_and_what_it_replaces(folder, capsys) -> None:
    assert _main("reset", "large") == 0
    assert _main("accept", "--why", "the first curves") == 0
    printed = capsys.readouterr().out
    assert "ACCEPTED large of night n1" in printed
    assert "ACCEPTED small" not in printed
    assert "replaces      nothing: it is the first of this target" in printed
    _night("n2", _check("n2", MOVED, beside={"numpy": "2.5"}))
    assert _main("accept", "small", "--why", "another NumPy") == 0
    printed = capsys.readouterr().out
    assert "ACCEPTED small of night n2" in printed
    assert "replaces      night n1" in printed
    assert "numpy: none → 2.5" in printed
    assert "loss        3  1.12500012     1.125    1   1.1e-07      no" in printed


def test_what_a_file_has_of_a_baseline_is_replaced_with_its_difference(folder, capsys) -> None:
    """A history that never had the accepted check knows the facts of its key alone."""
    (folder / "reprocheck.toml").write_text('[suite]\nbaselines = "b.json"\n' + SUITE)
    assert _main("accept", "--night", "n1", "--why", "the first curves", "large", "small") == 0
    (load(folder).folder / "history.sqlite").unlink()
    _night("n2", _check("n2", MOVED, beside={"numpy": "2.5"}))
    capsys.readouterr()
    assert _main("accept", "small", "--why", "another NumPy") == 0
    printed = capsys.readouterr().out
    assert "replaces      night n1" in printed
    assert "environment   the same" in printed
    assert "loss        3  1.12500012     1.125    1   1.1e-07      no" in printed


def test_without_a_night_the_last_good_check_of_each_target_is_accepted(folder, capsys) -> None:
    (folder / "reprocheck.toml").write_text(SUITE + NEVER)
    bad = _check("n4", MOVED, "never", good=False, reason="The losses differ.")
    _night("n2", _check("n2", MOVED))
    _night("n3", _check("n3", MOVED, "large"))
    _night("n4", _check("n4", VALUES, good=False), bad)
    capsys.readouterr()
    assert _main("accept", "--why", "as hinted") == 0
    printed = capsys.readouterr().out
    assert "ACCEPTED small of night n2" in printed
    assert "ACCEPTED large of night n3" in printed
    assert "LEFT OUT never: it has no good check in the last nights." in printed


def test_without_names_what_differs_is_accepted_and_what_is_not_good_left_out(
    folder, capsys
) -> None:
    bad = _check("n2", MOVED, "large", good=False, reason="The losses differ.")
    _night("n2", _check("n2", VALUES), bad)
    capsys.readouterr()
    assert _main("accept", "--night", "n2", "--why", "all of them") == 0
    printed = capsys.readouterr().out
    assert "LEFT OUT large: its check is not good. The losses differ." in printed
    assert "Nothing to accept" in printed
    assert _main("accept", "large", "--why", "all of them") == 2
    assert "Accept it all the same with --force" in capsys.readouterr().err
    assert _main("accept", "large", "--why", "known to vary", "--force") == 0


def test_without_a_reason_nothing_is_accepted(folder, capsys) -> None:
    assert _main("accept", "small") == 2
    assert "A baseline needs a reason." in capsys.readouterr().err


def test_diff_is_a_table_and_exit_1_where_it_is_too_far(folder, capsys) -> None:
    _night("n2", _check("n2", MOVED), _check("n2", VALUES, "large"))
    capsys.readouterr()
    assert _main("diff") == 1
    printed = capsys.readouterr().out
    assert "large agrees with its baseline." in printed
    assert "small is further from its baseline than is allowed in 1 series." in printed
    assert "loss        3  1.12500012     1.125    1   1.1e-07      no" in printed
    assert "iteration_time" not in printed
    assert 'reprocheck suite baseline accept small --night n2 --why "REASON"' in printed
    assert _main("diff", "large") == 0
    assert _main("diff", "--night", "n1") == 0


def test_with_another_key_bits_are_no_fault(folder, capsys) -> None:
    _night("n2", _check("n2", MOVED, key=OTHER_KEY))
    capsys.readouterr()
    assert _main("diff", "small") == 0
    printed = capsys.readouterr().out
    assert "small is within what is allowed; 1 series not equal in every bit." in printed
    assert "key           another one than the baseline's" in printed
    assert "torch: 2.13.0 → 2.14.0" in printed


def test_without_a_baseline_diff_says_how_to_make_one(folder, capsys) -> None:
    assert _main("reset", "small", "large") == 0
    assert "REMOVED 2 baselines of large, small" in capsys.readouterr().out
    assert _main("diff", "small") == 0
    assert "small has no baseline." in capsys.readouterr().out
    assert _main("show") == 0
    assert "There is no baseline." in capsys.readouterr().out
    assert _main("reset", "small") == 0


def test_reset_of_a_key_leaves_the_others(folder, capsys) -> None:
    _night("n2", _check("n2", VALUES, key=OTHER_KEY))
    assert _main("accept", "small", "--why", "torch 2.14") == 0
    assert _main("reset", "small", "--key", OTHER_KEY.digest[:6]) == 0
    capsys.readouterr()
    assert _main("show", "small") == 0
    printed = capsys.readouterr().out
    assert "torch 2.13.0" in printed
    assert OTHER_KEY.digest not in printed
    assert _main("reset") == 2


def test_show_has_reason_author_curves_and_what_is_allowed(folder, capsys) -> None:
    capsys.readouterr()
    assert _main("show", "small") == 0
    printed = capsys.readouterr().out
    assert "why           the first curves" in printed
    assert "of            night n1" in printed
    assert "curves        2 series, 3 iterations" in printed
    assert "allow         bits" in printed
    _night("n2", _check("n2", MOVED))
    assert _main("accept", "small", "--why", "another one") == 0
    capsys.readouterr()
    assert _main("show", "small", "--all") == 0
    assert capsys.readouterr().out.count("why  ") == 2


def test_a_target_that_left_the_suite_can_still_be_shown_and_reset(folder, capsys) -> None:
    (folder / "reprocheck.toml").write_text(SUITE.replace("small", "tiny"))
    assert _main("show", "small") == 0
    assert _main("reset", "small") == 0
    assert "REMOVED 1 baseline of small" in capsys.readouterr().out
    assert _main("show", "unheard-of") == 2


def test_an_export_can_be_imported_elsewhere(folder, capsys) -> None:
    assert _main("export", "baselines.json") == 0
    assert "EXPORTED 2 baselines to baselines.json" in capsys.readouterr().out
    assert _main("import", "baselines.json") == 0
    assert capsys.readouterr().out.count("it has these curves already") == 2
    assert _main("reset", "small") == 0
    assert _main("import", "baselines.json", "small") == 0
    assert "IMPORTED small: 2 series, 3 iterations" in capsys.readouterr().out
    assert _main("diff", "small") == 0


def test_an_export_to_standard_output_is_the_file_alone(folder, capsys) -> None:
    capsys.readouterr()
    assert _main("export", "-", "small") == 0
    (baseline,) = json.loads(capsys.readouterr().out)["baselines"]
    assert baseline["series"][0]["values"] == [
        "1 - 1.5 0x1.8000000000000p+0",
        "2 - 1.25 0x1.4000000000000p+0",
        "3 - 1.125 0x1.2000000000000p+0",
    ]


def test_rounded_values_of_another_program_are_held_by_the_tolerance(folder, capsys) -> None:
    golden = {"lm loss": {"start_step": 1, "values": {"1": 1.50001, "3": 1.12499}}}
    Path("golden.json").write_text(json.dumps(golden))
    capsys.readouterr()
    words = ("import", "golden.json", "small", "--series", "lm loss=loss")
    assert _main(*words, "--why", "from Megatron") == 0
    assert "by the tolerance" in capsys.readouterr().out
    assert _main("diff", "small") == 0
    printed = capsys.readouterr().out
    assert "small agrees with its baseline." in printed
    assert "tolerance: the imported curves have fewer digits" in printed
    _night("n2", _check("n2", [1.5, 1.25, 1.2]))
    assert _main("diff", "small") == 1


def test_a_recording_can_be_made_with_the_baseline(folder, capsys) -> None:
    _night("n2", _check("n2", MOVED))
    capsys.readouterr()
    assert _main("accept", "small", "--why", "kept", "--record") == 0
    key = _check("n2", MOVED).key.digest
    shown = capsys.readouterr()
    assert f"recording     kept/small/{key}.zip" in shown.out
    assert shown.err == "1 of 1  small: recording at level module\n"
    kept = folder / "nightly" / "kept" / "small"
    assert sorted(file.name for file in kept.iterdir()) == [f"{key}.json", f"{key}.zip"]
    (folder / "train.py").unlink()
    assert _main("accept", "large", "--night", "n1", "--why", "kept", "--record") == 2
    assert "The deeper recording of large could not be made" in capsys.readouterr().err
