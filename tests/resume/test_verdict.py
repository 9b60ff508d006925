"""What one place says, from losses written as lists."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import nan

import pytest

from reprocheck.model import Ended, FirstRead, Run, Tolerance
from reprocheck.resume.model import Checkpoint, Outcome, Place
from reprocheck.resume.sentences import reason
from reprocheck.resume.verdict import Sides, between, judged, losses, read_of, shifted, unrepeatable
from tests.verdict.verdict_runs import run, series, trace

SAVED = Checkpoint(iteration=3, paths=("a.pt",))
NEVER_STOPPED = (9.0, 8.0, 7.0, 6.0, 5.0, 4.0)
READ = {"a.pt": FirstRead(size=1, hash="", early=True)}


def _run(number: int, losses: Sequence[float], ended: Ended = "stopped", **keys: object) -> Run:
    return run(number, trace([[loss] for loss in losses]), ended=ended, **keys)


def _outcome(
    resumed: Sequence[float],
    *,
    continued: Sequence[float] = NEVER_STOPPED,
    ended: Ended = "stopped",
    of_resumed: Ended = "stopped",
    read: bool = True,
) -> Outcome:
    sides = Sides(
        continued=_run(1, continued, ended),
        resumed=_run(2, resumed, of_resumed, first_reads=READ if read else {}),
        go_on=3,
        tolerance=Tolerance(),
    )
    return judged(Place(name="first", checkpoint=SAVED), SAVED, sides)


@pytest.mark.parametrize(
    ("resumed", "verdict"),
    [
        ((6.0, 5.0, 4.0), "resumes_exactly"),
        ((6.0, 5.0, 4.0000005), "resumes_within_tolerance"),
        ((6.0, 5.0, 4.5), "does_not_resume_exactly"),
        ((9.0, 8.0, 7.0), "starts_over"),
    ],
)
def test_the_losses_decide(resumed: Sequence[float], verdict: str) -> None:
    found = _outcome(resumed)
    assert (found.verdict, found.offset.k if found.offset else None) == (verdict, 3)
    assert reason(found)


def test_a_difference_is_said_with_both_numbers() -> None:
    said = reason(_outcome((6.0, 5.0, 4.5)))
    assert "iteration 3 of the resumed run (6 of the continued run)" in said
    assert said.endswith("4.5 instead of 4")


def test_without_a_read_file_the_resumed_run_starts_over() -> None:
    assert _outcome((6.5, 5.0, 4.0), read=False).verdict == "starts_over"


def test_a_file_of_which_only_the_opening_was_recorded_was_read() -> None:
    resumed = _run(2, (6.0, 5.0, 4.0), opened=("a.pth", "b.pth"))
    saved = Checkpoint(iteration=3, paths=("a.pth",))
    assert read_of(saved, resumed) == ("a.pth",)


def test_a_save_between_an_update_and_its_logged_loss_counts_for_that_update() -> None:
    found = _outcome((5.0, 4.0, 3.0))
    assert found.offset is not None and found.place.checkpoint is not None
    assert (found.verdict, found.offset.k, found.place.checkpoint.iteration) == (
        "resumes_exactly",
        4,
        4,
    )
    assert found.compared == 2


def test_a_run_that_ends_before_the_other_does_not_resume() -> None:
    shorter = _outcome((6.0, 5.0), of_resumed="completed")
    assert shorter.verdict == "does_not_resume_exactly"
    assert "ends after 2 iterations" in reason(shorter)
    longer = _outcome((6.0, 5.0, 4.0), continued=NEVER_STOPPED[:5], ended="completed")
    assert longer.verdict == "does_not_resume_exactly"
    assert "goes on after 2 iterations" in reason(longer)


def test_a_resumed_run_that_trains_nothing_and_ends_by_itself_does_not_resume() -> None:
    found = _outcome((), of_resumed="completed")
    assert (found.verdict, found.compared) == ("does_not_resume_exactly", 0)
    assert reason(found).endswith("where the run that never stopped makes 3 more")
    unread = _outcome((), of_resumed="completed", read=False)
    assert unread.verdict == "does_not_resume_exactly"


def test_a_resumed_run_that_trains_nothing_and_fails_is_a_failure() -> None:
    assert _outcome((), of_resumed="failed").verdict == "script_failed"
    assert _outcome((), of_resumed="timed_out").verdict == "timed_out"


def test_a_resumed_run_that_fails_is_a_failure_whatever_its_losses_are() -> None:
    assert _outcome((6.5,), of_resumed="failed").verdict == "script_failed"
    assert _outcome((9.0,), of_resumed="failed", read=False).verdict == "script_failed"
    assert _outcome((6.5, 5.0), of_resumed="timed_out").verdict == "timed_out"


def test_nothing_behind_the_checkpoint_is_inconclusive() -> None:
    found = _outcome((6.0,), continued=NEVER_STOPPED[:3], ended="completed")
    assert found.verdict == "inconclusive"


def test_a_run_started_again_is_repeatable_as_far_as_it_went() -> None:
    continued = _run(1, NEVER_STOPPED)
    assert unrepeatable(continued, _run(2, NEVER_STOPPED[:4])) is None
    assert unrepeatable(continued, _run(2, (9.0, 8.0, 7.5))) == 3


def test_of_several_losses_of_an_iteration_those_that_differ_are_named() -> None:
    one = run(1, trace([[1.0], [2.0, nan, 3.0]]))
    other = run(2, trace([[1.0], [2.0, nan, 4.0]]))
    found = losses(one, other, Tolerance())
    assert (found.continued, found.resumed) == (3.0, 4.0)


def test_iterations_are_cut_out_with_all_their_losses() -> None:
    found = between(series([[1.0], [2.0, 3.0], [4.0], [5.0]]), 1, 2)
    assert found.values == array("d", [2.0, 3.0, 4.0])
    assert found.ends == array("q", [2, 3])
    assert shifted(_run(1, NEVER_STOPPED), 9, 3).longest == 0
