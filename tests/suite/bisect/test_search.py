"""The search for the first bad candidate, over numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Set

from hypothesis import given, settings, strategies as st

from reprocheck.suite.bisect.search import (
    Answer,
    Found,
    Graph,
    NotHere,
    Probe,
    most_checks,
    step,
)


def searched(
    graph: Graph, answer: Callable[[int], Answer]
) -> tuple[Found | NotHere, dict[int, Answer]]:
    """The outcome, and the answers that it took."""
    answers: dict[int, Answer] = {}
    while isinstance(now := step(graph, answers), Probe):
        assert now.number not in answers
        answers[now.number] = answer(now.number)
    return now, answers


def on_chain(first_bad: int, skipped: Set[int] = frozenset()) -> Callable[[int], Answer]:
    def answer(number: int) -> Answer:
        if number in skipped:
            return "skip"
        return "bad" if number >= first_bad else "good"

    return answer


SIZES = (*range(1, 40), 63, 64, 65, 127, 128, 129, 199, 200)


def test_every_first_bad_candidate_of_a_chain_is_found_within_the_bound() -> None:
    for n in SIZES:
        _find_each(n)


def _find_each(n: int) -> None:
    graph = Graph.chain(n)
    for first_bad in range(1, n + 1):
        outcome, answers = searched(graph, on_chain(first_bad))
        assert outcome == Found(candidates=(first_bad,), good_checked=n > 1)
        assert len(answers) <= most_checks(n)
        assert answers[first_bad] == "bad"
        assert n == 1 or answers[first_bad - 1] == "good"


def test_an_end_that_is_not_here_what_it_was_is_told_within_the_bound() -> None:
    for n in range(2, 201):
        all_bad, answers = searched(Graph.chain(n), on_chain(0))
        assert all_bad == NotHere(end="good")
        assert len(answers) <= most_checks(n)
        all_good, answers = searched(Graph.chain(n), on_chain(n + 1))
        assert all_good == NotHere(end="bad")
        assert len(answers) <= most_checks(n)


def test_a_bad_end_that_is_good_here_takes_one_check_where_the_bound_leaves_room() -> None:
    assert len(searched(Graph.chain(15), on_chain(16))[1]) == 1


@given(data=st.data(), n=st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_skipped_candidates_cost_one_check_each_and_are_named_where_they_hide_the_first(
    data: st.DataObject, n: int
) -> None:
    first_bad = data.draw(st.integers(1, n))
    skipped = data.draw(st.sets(st.integers(1, max(1, n - 1)), max_size=n)) - {n}
    outcome, answers = searched(Graph.chain(n), on_chain(first_bad, skipped))
    assert isinstance(outcome, Found)
    assert first_bad in outcome.candidates
    assert set(outcome.candidates[:-1]) <= skipped
    skips = sum(answer == "skip" for answer in answers.values())
    assert len(answers) - skips <= most_checks(n) + skips


def test_a_bad_end_that_cannot_be_checked_is_told() -> None:
    outcome, _ = searched(Graph.chain(3), lambda number: "skip" if number else "good")
    assert outcome == NotHere(end="bad", skipped=True)


def test_a_block_that_cannot_be_checked_is_left_after_a_few() -> None:
    outcome, answers = searched(Graph.chain(100), on_chain(90, set(range(30, 71))))
    assert outcome == Found(candidates=(90,), good_checked=True)
    assert sum(answer == "skip" for answer in answers.values()) <= 4


@st.composite
def histories(draw: st.DrawFn) -> tuple[Graph, int]:
    """Commits with merges, all of which the last one builds on, and the guilty one."""
    n = draw(st.integers(1, 60))
    parents: list[tuple[int, ...]] = [()]
    for number in range(1, n + 1):
        several = draw(st.sets(st.integers(0, number - 1), min_size=1, max_size=3))
        parents.append(tuple(sorted(several)))
    heads = set(range(n + 1)) - {parent for found in parents for parent in found}
    parents.append(tuple(sorted(heads)))
    return Graph(parents=tuple(parents)), draw(st.integers(1, n + 1))


@given(history=histories())
@settings(max_examples=60, deadline=None)
def test_in_a_history_with_merges_the_commit_that_brought_the_difference_is_found(
    history: tuple[Graph, int],
) -> None:
    graph, guilty = history

    def answer(number: int) -> Answer:
        return "bad" if graph.ancestors[number] >> guilty & 1 else "good"

    outcome, _ = searched(graph, answer)
    assert isinstance(outcome, Found)
    assert outcome.candidates == (guilty,)
