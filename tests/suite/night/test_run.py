"""A night with an executor that gives real reports, and runs nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.errors import UsageError
from reprocheck.suite.execution import Performed
from reprocheck.suite.history import History, open_history
from reprocheck.suite.night import Options, Outcome, run
from reprocheck.suite.night.plan import job_of
from reprocheck.suite.targets import Suite
from tests.suite.nights import BAD, GOOD, Prepared, Told, made, suite_in

NAMES = ("a", "b", "c")


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Performed]:
    folder = tmp_path_factory.mktemp("reports")
    return {"good": made(folder, "good", GOOD), "bad": made(folder, "bad", BAD)}


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return suite_in(tmp_path, *NAMES)


@pytest.fixture
def history(suite: Suite) -> Iterator[History]:
    with open_history(suite.history) as opened:
        yield opened


def night(
    suite: Suite,
    history: History,
    reports: dict[str, Performed],
    told: Told | None = None,
    options: Options | None = None,
    **comes_to: Sequence[str],
) -> tuple[Outcome, Prepared]:
    executor = Prepared(reports, comes_to)
    options = replace(options or Options(), record=False)
    return run(suite, history, executor, options, told or Told()), executor


def state(outcome: Outcome, name: str) -> tuple[str, bool]:
    found = next(one for one in outcome.states if one.target == name)
    return found.state, found.failed


def test_every_check_of_a_night_is_in_the_history(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    outcome, _ = night(suite, history, reports, b=["bad"])
    assert outcome.exit_code == 1
    checks = history.checks(night=outcome.night.id, curves=True)
    assert [(check.target, check.verdict, check.good) for check in checks] == [
        ("a", "reproducible", True),
        ("b", "not_reproducible", False),
        ("c", "reproducible", True),
    ]
    good = checks[0]
    assert good.bitwise
    assert good.curves
    assert good.key.facts["options"] == "train.py"
    assert good.folder == f"nights/{outcome.night.id}/a/attempt-1"
    assert (suite.folder / good.folder / "record.json").is_file()
    assert checks[1].failed_check == "forward"
    assert history.night(outcome.night.id).ended is not None
    assert {one.target: one.state for one in history.states(night=outcome.night.id)} == {
        "a": "new target",
        "b": "new failure",
        "c": "new target",
    }


def test_a_pass_on_retry_is_intermittent(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    told = Told()
    outcome, executor = night(
        suite, history, reports, told, Options(retries=2), a=["bad", "good"], b=["bad"]
    )
    assert state(outcome, "a")[0] == "intermittent"
    assert state(outcome, "b") == ("new failure", True)
    assert executor.started.count(("a", 2)) == 1
    assert ("a", 3) not in executor.started
    assert ("b", 3) in executor.started
    assert [again for check, again in told.checks if check.target == "b"] == [True, True, False]
    assert len(history.checks(night=outcome.night.id, target="b")) == 3


def test_an_interrupted_night_goes_on_and_counts_nothing_twice(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    told = Told()
    with pytest.raises(KeyboardInterrupt):
        night(suite, history, reports, told, b=["interrupt"])
    assert [one.id for one in history.nights()] == [told.night]
    assert history.night(told.night).ended is None
    before = history.checks(night=told.night)

    again = Told()
    outcome, executor = night(suite, history, reports, again, Options(resume="last"))
    assert outcome.night.id == told.night
    assert again.checked == len(before) == 1
    assert {name for name, _ in executor.started} == set(NAMES) - {before[0].target}
    assert len(history.nights()) == 1
    assert sorted(check.target for check in history.checks(night=told.night)) == [*NAMES]
    with pytest.raises(UsageError, match="No night was interrupted"):
        night(suite, history, reports, options=Options(resume="last"))
    with pytest.raises(UsageError, match="came to its end"):
        night(suite, history, reports, options=Options(resume=told.night))


def test_a_check_that_ended_just_before_the_night_was_killed_is_not_made_again(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    told = Told()
    with pytest.raises(KeyboardInterrupt):
        night(suite, history, reports, told, a=["interrupt"])
    begun = history.night(told.night)
    target = next(one for one in suite.targets if one.name == "a")
    shutil.copytree(reports["good"].job.folder, job_of(target, begun.id, suite, 1).folder)

    outcome, executor = night(suite, history, reports, options=Options(resume=told.night))
    assert ("a", 1) not in executor.started
    assert [check.target for check in outcome.checks if check.good] == [*NAMES]


def test_retries_go_on_after_an_interruption(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    told = Told()
    with pytest.raises(KeyboardInterrupt):
        night(suite, history, reports, told, Options(retries=1), c=["bad", "interrupt"])
    outcome, executor = night(
        suite, history, reports, options=Options(resume="last", retries=1), c=["good"]
    )
    assert ("c", 1) not in executor.started
    assert ("c", 2) in executor.started
    assert state(outcome, "c")[0] == "intermittent"


def test_a_check_that_is_lost_is_started_anew_and_named(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    told = Told()
    outcome, executor = night(
        suite, history, reports, told, a=["lost", "good"], b=["lost", "lost", "lost", "good"]
    )
    assert told.losses == ["a", "b", "b"]
    assert executor.started.count(("a", 1)) == 2
    final = {check.target: check for check in outcome.checks}
    assert final["a"].good
    assert (final["b"].verdict, final["b"].reason) == ("error", "Its node died.")
    assert outcome.exit_code == 3


def test_only_what_failed_is_checked_again(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    night(suite, history, reports, b=["bad"])
    outcome, executor = night(suite, history, reports, options=Options(only_failed=True))
    assert executor.started == [("b", 1)]
    assert [one.target for one in outcome.states] == ["b"]
    assert state(outcome, "b")[0] == "fixed"
    assert outcome.exit_code == 0
    with pytest.raises(UsageError, match="No target failed"):
        night(suite, history, reports, options=Options(only_failed=True))


def test_what_failed_is_checked_again_after_a_night_of_others(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    night(suite, history, reports, b=["bad"], c=["bad"])
    night(suite, history, reports, options=Options(names=("a", "c")))
    _, executor = night(suite, history, reports, options=Options(only_failed=True))
    assert executor.started == [("b", 1)]


def test_what_failed_the_time_before_has_no_retry(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    retries = Options(retries=1)
    _, first = night(suite, history, reports, options=retries, b=["bad"])
    _, second = night(suite, history, reports, options=retries, b=["bad"], c=["bad"])
    assert ("b", 2) in first.started
    assert ("b", 2) not in second.started
    assert ("c", 2) in second.started
    told = Told()
    with pytest.raises(KeyboardInterrupt):
        night(suite, history, reports, told, retries, a=["interrupt"], b=["bad"])
    again = replace(retries, resume=told.night)
    _, third = night(suite, history, reports, options=again, b=["bad"])
    assert ("b", 2) not in third.started


def test_what_took_longest_begins_first(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    _, first = night(suite, history, reports)
    last = history.nights()[-1].id
    assert [name for name, _ in first.started] == [*NAMES]
    took = {"a": 1000.0, "b": 3000.0, "c": 2000.0}
    for check in history.checks(night=last):
        later = f"{last}-later"
        history.begin_night(replace(history.night(last), id=later, ended=2.0))
        took_before = replace(check, started=check.started - 4000, seconds=took[check.target])
        history.add(replace(took_before, night=later))
    _, second = night(suite, history, reports)
    assert [name for name, _ in second.started] == ["b", "c", "a"]


def test_a_target_that_asks_for_more_than_there_is_is_not_run(
    tmp_path: Path, reports: dict[str, Performed]
) -> None:
    suite = suite_in(tmp_path, "a", "b")
    big = replace(suite.targets[1], needs=replace(suite.targets[1].needs, gpus=8))
    suite = replace(suite, targets=(suite.targets[0], big))
    with open_history(suite.history) as history:
        outcome, executor = night(suite, history, reports)
        stored = {one.target: one for one in history.states(night=outcome.night.id)}
    assert executor.started == [("a", 1)]
    assert (stored["b"].state, stored["b"].sentence) == ("not run", "It asks for a GPU.")
    assert outcome.exit_code == 3


def test_nights_that_are_too_old_lose_their_reports_alone(
    tmp_path: Path, reports: dict[str, Performed]
) -> None:
    suite = suite_in(tmp_path, "a", keep="2")
    with open_history(suite.history) as history:
        nights = [night(suite, history, reports)[0].night.id for _ in range(3)]
        recorded = {check.night for check in history.checks()}
    assert sorted(path.name for path in (suite.folder / "nights").iterdir()) == nights[1:]
    assert recorded == set(nights)


def test_the_same_night_is_not_made_by_two_at_once(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    told = Told()
    with pytest.raises(KeyboardInterrupt):
        night(suite, history, reports, told, b=["interrupt"])

    class Nested(Told):
        def begun(self, *_: object) -> None:
            night(suite, history, reports, options=Options(resume="last"))

    with pytest.raises(UsageError, match="is under way"):
        night(suite, history, reports, Nested(), Options(resume="last"))


def test_what_a_night_under_way_checks_is_checked_twice_only_where_that_is_asked_for(
    suite: Suite, history: History, reports: dict[str, Performed]
) -> None:
    class Nested(Told):
        def begun(self, *_: object) -> None:
            with pytest.raises(UsageError, match="is under way"):
                night(suite, history, reports)
            night(suite, history, reports, options=Options(twice=True))

    night(suite, history, reports, Nested())
    first, second = history.nights()
    assert first.id != second.id
    assert len(history.checks(night=first.id)) == len(history.checks(night=second.id)) == 3


def test_a_report_that_cannot_be_read_does_not_end_the_night(
    suite: Suite, history: History, reports: dict[str, Performed], tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(reports["good"].job.folder, broken)
    (broken / "record.json").write_text("{}")
    job = replace(reports["good"].job, root=tmp_path, place="broken")
    outcome, _ = night(
        suite, history, {**reports, "broken": replace(reports["good"], job=job)}, a=["broken"]
    )
    final = {check.target: check for check in outcome.checks}
    assert final["a"].verdict == "error"
    assert "record.json" in final["a"].reason
    assert final["b"].good
