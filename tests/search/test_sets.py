"""The search against oracles: what it finds suffices, holds nothing to spare, is one control where
one suffices, and costs few runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from reprocheck.model import RungName
from reprocheck.search.request import (
    FRESH,
    Answer,
    Candidates,
    Difference,
    Found,
    Question,
    Unanswered,
)
from reprocheck.search.sets import find

HARMLESS = tuple("abcdefghijklmn")
ALTERING = tuple("wxyz")
ALL = Candidates(likely=("a", "b"), harmless=HARMLESS, altering=ALTERING)


class Runs:
    """Answers as runs would, each set of controls once; counts the runs that it takes."""

    def __init__(
        self,
        suffices: Callable[[frozenset[str]], bool | None],
        touched: Iterable[str] | None = None,
    ) -> None:
        self.suffices, self.touched = suffices, None if touched is None else frozenset(touched)
        self.made: dict[frozenset[str], int] = {}
        self.blamed: tuple[str, ...] = ()

    def __call__(self, question: Question) -> Answer:
        controls = frozenset(question.controls)
        self.made[controls] = max(self.made.get(controls, 0), question.runs)
        touched = None if self.touched is None else controls & self.touched
        agrees = self.suffices(controls)
        blamed = tuple(name for name in self.blamed if name in controls) if agrees is None else ()
        return Answer(agrees=agrees, runs=self.made[controls], acted=touched, blamed=blamed)

    @property
    def count(self) -> int:
        return sum(self.made.values())


def search(
    runs: Callable[[Question], Answer], candidates: Candidates = ALL, needed: int = 3
) -> Found:
    return find(candidates, runs, lambda names, answer: needed)


def any_of(*sets: str) -> Callable[[frozenset[str]], bool]:
    """An oracle: the runs agree under each of these sets, and under whatever holds one."""
    return lambda controls: any(frozenset(one) <= controls for one in sets)


def test_the_likely_control_is_tried_alone_first_and_run_once_more() -> None:
    runs = Runs(any_of("a"))
    assert search(runs) == Found(smallest=("a",), runs=3)
    assert runs.made == {frozenset("a"): 3}


def test_where_what_a_run_left_is_in_the_way_of_the_next_a_fresh_folder_is_tried_beside() -> None:
    """As a folder that is named by the clock, which a control stops."""
    candidates = Candidates(likely=("a",), harmless=(*HARMLESS, FRESH))
    runs = Runs(lambda controls: None if controls == {"a"} else {"a", FRESH} <= controls)

    def answered(question: Question) -> Answer:
        return replace(runs(question), stumbled=question.controls == ("a",))

    assert search(answered, candidates).smallest == ("a", FRESH)
    assert list(runs.made) == [frozenset("a"), frozenset({"a", FRESH})]


def test_suspects_of_which_the_second_run_stumbles_are_tried_in_a_fresh_folder() -> None:
    candidates = replace(ALL, suspects=("a", "b", "c"), harmless=(*HARMLESS, FRESH))
    runs = Runs(lambda names: {"a", "b"} <= names if FRESH in names or "a" not in names else None)

    def answered(question: Question) -> Answer:
        answer = runs(question)
        return replace(answer, stumbled=answer.agrees is None)

    found = search(answered, candidates)
    assert (found.smallest, found.crashing) == (("a", "b", FRESH), ())


def test_the_second_likely_control() -> None:
    runs = Runs(any_of("b"))
    assert search(runs).smallest == ("b",)
    assert runs.count == 5


def test_a_control_that_does_two_things_proves_neither_where_one_of_them_suffices() -> None:
    """As `fixed-addresses`, which fixes the order of strings, too."""
    both = Candidates(likely=("b",), harmless=HARMLESS, parts={"b": ("a",)})
    assert search(Runs(any_of("a", "b")), both).smallest == ("a",)
    assert search(Runs(any_of("b")), both).smallest == ("b",)
    only_b = Candidates(likely=("b",), harmless=HARMLESS[1:], parts={"b": ("a",)})
    assert search(Runs(any_of("a", "b")), only_b).smallest == ("b",), "it is on already"


def test_suspects_that_remove_a_part_each_are_tried_together_before_all_controls() -> None:
    """Weights from an unseeded generator, and an environment with one of its own: stable-baselines3
    without a seed.
    """
    runs = Runs(any_of("ab"), touched="abcdef")
    assert search(runs, replace(ALL, suspects=("a", "b"))).smallest == ("a", "b")
    assert runs.count == 7, "the first alone, both in three runs, and without the first"
    runs = Runs(any_of("acf"), touched="abcdef")
    assert search(runs, replace(ALL, suspects=tuple("abcef"))).smallest == ("a", "c", "f")
    assert len(runs.made) == 7, "one alone, all five, and without each of them"
    runs = Runs(any_of("ag"))
    assert search(runs, replace(ALL, suspects=("a", "b"))).smallest == ("a", "g")


def test_what_fewer_controls_give_is_compared_with_runs_under_more() -> None:
    asked: list[Question] = []

    def ask(question: Question) -> Answer:
        asked.append(question)
        controls = frozenset(question.controls)
        runs = 1 if question.reference else question.runs
        return Answer(agrees=controls >= {"a", "c"}, runs=runs, acted=controls)

    several = replace(ALL, suspects=("a", "b", "c"), sure=("a", "c"))
    assert search(ask, several).smallest == ("a", "c")
    assert [(question.controls, question.reference) for question in asked] == [
        (("a", "b", "c"), ()),
        (("a", "b"), ("a", "b", "c")),
        (("a", "c"), ("a", "b", "c")),
        (("c",), ("a", "c")),
        (("a", "c"), ()),
        (("a", "c"), ()),
    ]
    assert asked[-1].runs == 3


def test_places_at_which_a_control_acts_are_left_out_in_turn() -> None:
    places = {"a": ("train.py:1", "train.py:2", "train.py:3"), "b": ("random",)}

    def ask(question: Question) -> Answer:
        agrees = {"a", "b"} <= set(question.controls)
        if question.spared:
            agrees = question.spared == ("a@train.py:2",)
            assert question.reference == question.controls == ("a", "b")
        return Answer(agrees=agrees, runs=question.runs, places=places)

    several = replace(ALL, suspects=("a", "b"), sure=("a", "b"))
    found = search(ask, several)
    assert found.needed == {"a": ("train.py:1", "train.py:3")}
    places["a"] = tuple(f"train.py:{line}" for line in range(1, 7))
    assert search(ask, several).needed == {}, "of so many, none is left out"


FIXES = ("RC402 train.py:3", "RC504 train.py:7", "RC505 train.py:9")


def test_where_a_control_of_what_is_named_acts_on_nothing_the_patch_is_tried_before_all_controls() -> (
    None
):
    """The order in which the threads of a script put into its queue: no control reaches it."""
    named = replace(ALL, suspects=("a", "b"), fixes=FIXES[:1])
    runs = Runs(any_of("w"), touched=("b", "w", *FIXES))
    assert search(runs, named).smallest == ("w",)
    first = FIXES[0]
    assert [set(names) for names in runs.made][:5] == [
        *({"a"}, {"b"}, {first}, {*HARMLESS}, {*HARMLESS, first})
    ]


def test_an_altering_control_comes_early_where_no_other_of_what_is_named_acts() -> None:
    """Dropout that draws more often in one run than in another: no clock decides how often."""
    named = replace(ALL, likely=("a",), suspects=("a",), last=("w",))
    runs = Runs(any_of("w"), touched="bw")
    assert search(runs, named).smallest == ("w",)
    assert list(runs.made) == [frozenset("a"), frozenset("w")]


def test_a_set_that_agrees_by_luck_does_not_end_the_search() -> None:
    """One of its controls acts on nothing, and is needed as it seems."""
    named = replace(ALL, suspects=("a", "b", "c", "d"), sure=("a", "b"))
    runs = Runs(any_of("abc", "acg"), touched="acg")
    assert search(runs, named).smallest == ("a", "c", "g")


def test_patches_come_first_where_no_control_reaches_what_the_scan_is_sure_of() -> None:
    first, second, _ = FIXES
    named = replace(ALL, suspects=("a",), fixes=FIXES, unreached=(first,))
    runs = Runs(lambda names: {first, second} <= names, touched=("a", *FIXES))
    assert search(runs, named).smallest == (first, second)
    assert runs.count == 9, "all three, without each in turn, and once more"


def test_what_acts_unseen_suffices_beside_a_control_that_acts_on_nothing() -> None:
    """A control of which no call tells, and one that is named and does nothing: the runs differ
    without them, made afterwards.
    """
    named = replace(ALL, suspects=("a", "b"), sure=("a", "b"), silent=("a",))
    assert search(Runs(any_of("a"), touched="c"), named).smallest == ("a",)


def test_the_next_difference_is_that_of_the_runs_in_a_fresh_folder_where_others_stumble() -> None:
    named = replace(
        ALL,
        suspects=("a", "b"),
        sure=("a", "b"),
        harmless=(*HARMLESS, FRESH),
        first=Difference(rung="initial weights"),
    )
    runs = Runs(lambda names: {"a", "b", "f"} <= names if FRESH in names else None)
    seen: list[set[str]] = []

    def answered(question: Question) -> Answer:
        answer = runs(question)
        return replace(answer, stumbled=answer.agrees is None)

    def differing(names: tuple[str, ...]) -> Difference:
        seen.append(set(names))
        return Difference(rung="batch", controls=("f",))

    found = find(named, answered, lambda names, answer: 3, differing=differing)
    assert seen[0] == {"a", "b", FRESH}
    assert found.smallest == ("a", "b", "f", FRESH)


def test_causes_that_no_control_reaches_are_left_unpatched_in_turn() -> None:
    """A clock that counts from the start of the machine, beside two causes with controls."""
    first, _, third = FIXES
    named = replace(ALL, suspects=("a", "b", "c"), sure=("a", "b"), fixes=FIXES)
    agree = [{first, "a"}, {first, third}]
    runs = Runs(lambda names: any(one <= names for one in agree), touched=("a", "c", *FIXES))
    assert search(runs, named).smallest == (first, third)
    assert runs.count == 11
    runs = Runs(lambda names: {first, "a", "m"} <= names, touched=("a", "c", "m", *FIXES))
    assert search(runs, named).smallest == ("a", "m", first)
    assert search(Runs(any_of("w")), named).smallest == ("w",)


def test_controls_that_move_the_first_difference_stay_on_and_the_next_one_is_followed() -> None:
    named = replace(ALL, suspects=("a", "b"), first=Difference(rung="initial weights"))
    places: dict[str, RungName] = {"ab": "batch", "abfg": "loss"}

    def differing(names: tuple[str, ...]) -> Difference | None:
        place = places.get("".join(names))
        controls = {"batch": ("a", "f", "g", "h"), "loss": ("m",)}.get(str(place), ())
        return Difference(rung=place, controls=controls) if place else None

    runs = Runs(lambda names: {"a", "g", "m"} <= names, touched="abfgm")
    found = find(named, runs, lambda names, answer: 3, differing=differing)
    assert found.smallest == ("a", "g", "m")
    assert [set(names) for names in runs.made][:5] == [
        *({"a"}, {"b"}, {"a", "b"}, {*"abfg"}, {*"abfgm"})
    ]
    places["ab"] = "initial weights"
    stays = Runs(lambda names: {"a", "g", "m"} <= names, touched="abfgm")
    found = find(named, stays, lambda names, answer: 3, differing=differing)
    assert found.smallest == ("a", "g", "m")
    assert frozenset(HARMLESS) in stays.made, "where the first difference stays, all are tried"


def test_a_control_without_a_trace_is_taken_where_runs_without_it_differ() -> None:
    """The order of a set of strings inside a package: no line of the user's shows it."""
    quiet = replace(ALL, suspects=("a", "b"), silent=("h", "i"))
    runs = Runs(any_of("ah"), touched="abcd")
    assert search(runs, quiet).smallest == ("a", "h")
    runs = Runs(any_of("h"), touched="abcd")
    assert search(runs, quiet).smallest == ("h",)
    lucky = Runs(any_of("e"), touched="abcd")
    assert search(lucky, quiet) == Found(idle=HARMLESS), "it says itself where it acts"


def test_a_control_without_a_trace_is_no_cause_where_the_difference_went_away_by_itself() -> None:
    """As with a cache that the first runs fill: later ones agree under whatever they are made."""
    quiet = replace(ALL, likely=("a",), suspects=("a",), silent=("h", "i"))
    made: list[frozenset[str]] = []

    def ask(question: Question) -> Answer:
        controls = frozenset(question.controls)
        made.append(controls)
        agrees = controls != frozenset("a") if controls else False
        return Answer(agrees=agrees, runs=question.runs, acted=controls & {"a"})

    assert search(ask, quiet) == Found(idle=HARMLESS)
    assert frozenset("ab") in made, "runs under what acts are made again, after those that agree"


def test_an_altering_control_that_a_cause_speaks_for_is_tried_alone_once_the_harmless_ones_failed() -> (
    None
):
    candidates = Candidates(
        likely=("a", "b"), harmless=HARMLESS, altering=ALTERING, last=("y", "z")
    )
    runs = Runs(any_of("y"))
    assert search(runs, candidates) == Found(smallest=("y",), runs=3)
    assert runs.made == {
        frozenset("a"): 2,
        frozenset("b"): 2,
        frozenset(HARMLESS): 2,
        frozenset("y"): 3,
    }
    assert search(Runs(any_of("w")), candidates).smallest == ("w",), (
        "another one is found as before"
    )
    assert search(Runs(any_of("c")), candidates).smallest == ("c",), (
        "what alters the training is not asked where the rest suffices"
    )


@pytest.mark.parametrize("name", HARMLESS)
def test_any_single_control_is_found_in_few_runs(name: str) -> None:
    runs = Runs(any_of(name), touched="abcdefgh" + name)
    assert search(runs).smallest == (name,)
    assert runs.count <= 21


def test_what_acted_and_comes_next_is_tried_alone_before_halves() -> None:
    for number, name in enumerate("abcd"):
        runs = Runs(any_of(name), touched="abcdef")
        assert search(runs).smallest == (name,)
        assert runs.count == (3, 5, 9, 11)[number]


def test_of_several_single_controls_the_first_in_order_is_named() -> None:
    assert search(Runs(any_of("e", "h", "n"))).smallest == ("e",)
    assert search(Runs(any_of("ck", "n"))).smallest == ("n",), "one control before two"


def test_what_touched_nothing_is_left_out_first() -> None:
    runs = Runs(any_of("h"), touched="fh")
    assert search(runs).smallest == ("h",)
    assert runs.count <= 2 * 2 + 2 + 2 + 2 + 3, "two alone, all, two of the two, one more"


def test_where_nothing_speaks_for_a_control_all_are_tried_first_and_then_what_acted() -> None:
    unsaid = Candidates(likely=(), harmless=HARMLESS, altering=ALTERING, last=("y",))
    runs = Runs(any_of("d"), touched="cd")
    assert search(runs, unsaid).smallest == ("d",)
    assert list(runs.made.values()) == [2, 2, 3], "all, c, d"
    runs = Runs(any_of("y"))
    assert search(runs, unsaid).smallest == ("y",)
    assert runs.count == 5, (
        "all that do not alter the training, and the one that a cause speaks for"
    )


def test_controls_that_alter_the_training_only_where_nothing_else_suffices() -> None:
    assert search(Runs(any_of("x"))).smallest == ("x",)
    assert search(Runs(any_of("cx"))).smallest == ("c", "x")
    assert search(Runs(any_of("x", "ck"))).smallest == ("c", "k")


def test_nothing_suffices() -> None:
    runs = Runs(any_of())
    assert search(runs) == Found()
    assert set(runs.made) == {
        frozenset("a"),
        frozenset("b"),
        frozenset(HARMLESS),
        frozenset((*HARMLESS, *ALTERING)),
    }


def test_a_control_that_makes_the_script_fail_is_left_out_and_the_search_goes_on() -> None:
    def fails_under_d(controls: frozenset[str]) -> bool | None:
        return None if "d" in controls else "g" in controls

    runs = Runs(fails_under_d)
    runs.blamed = ("d",)
    assert search(runs) == Found(smallest=("g",), runs=3, crashing=("d",))
    silent = Runs(fails_under_d)
    assert search(silent) == Found(smallest=("g",), runs=3, crashing=("d",)), (
        "found by halves where no message names it"
    )
    likely = Candidates(likely=("d", "g"), harmless=HARMLESS)
    assert search(Runs(fails_under_d), likely) == Found(smallest=("g",), runs=3, crashing=("d",))


def test_agreement_by_chance_is_no_answer() -> None:
    """Two runs under `a` agree, the third does not: the search goes on, and asks more runs of
    everything.
    """

    class Lucky(Runs):
        def __call__(self, question: Question) -> Answer:
            answer = super().__call__(question)
            luck = frozenset(question.controls) == frozenset("a") and self.made[frozenset("a")] < 3
            return Answer(agrees=True, runs=answer.runs) if luck else answer

    runs = Lucky(any_of())
    assert search(runs) == Found()
    assert runs.made[frozenset(HARMLESS)] == 3


def test_what_never_holds_ends_the_search() -> None:
    """Runs that agree when asked for two and not when asked for more."""

    def ask(question: Question) -> Answer:
        return Answer(agrees=question.runs < 3, runs=question.runs)

    assert search(ask) == Found()


def test_no_more_runs_than_allowed() -> None:
    runs = Runs(any_of("a"))
    assert find(ALL, runs, lambda names, answer: 40, runs=5, most=8).runs == 8


def test_where_nothing_can_be_confirmed_the_search_stays_short() -> None:
    runs = Runs(any_of("k"))
    found = find(ALL, runs, lambda names, answer: 3, whole=False)
    assert found.smallest == HARMLESS and len(runs.made) == 3
    assert find(ALL, Runs(any_of("x")), lambda names, answer: 3, whole=False) == Found(
        complete=False
    )


def test_missing_runs_are_asked_for_one_arm_at_a_time() -> None:
    known: dict[tuple[str, ...], Answer] = {}

    def ask(question: Question) -> Answer:
        answer = known.get(question.controls)
        if answer is None or answer.runs < question.runs:
            raise Unanswered(question)
        return answer

    def questions() -> Iterator[Question]:
        while True:
            try:
                search(ask)
                return
            except Unanswered as missing:
                question = missing.question
                yield question
                known[question.controls] = Answer(
                    agrees=frozenset("b") <= frozenset(question.controls), runs=question.runs
                )

    asked = list(questions())
    assert [(question.controls, question.runs) for question in asked] == [
        (("a",), 2),
        (("b",), 2),
        (("b",), 3),
    ]
    assert [question.why.key for question in asked] == [
        *("the ladder speaks for it", "the ladder speaks for it", "more runs")
    ]


sets = st.lists(
    st.frozensets(st.sampled_from((*HARMLESS, *ALTERING)), min_size=1, max_size=4), max_size=4
)


@settings(max_examples=300)
@given(sets, st.permutations(HARMLESS), st.booleans())
def test_what_is_found_suffices_and_holds_nothing_to_spare(
    minimal: list[frozenset[str]], order: list[str], touches: bool
) -> None:
    def suffices(controls: frozenset[str]) -> bool:
        return any(one <= controls for one in minimal)

    touched = frozenset().union(*minimal) | {"a"} if touches else None
    runs = Runs(suffices, touched)
    candidates = Candidates(likely=tuple(order[:2]), harmless=tuple(order), altering=ALTERING)
    found = find(candidates, runs, lambda names, answer: 3)
    if not minimal:
        assert found.smallest == ()
        return
    smallest = frozenset(found.smallest)
    assert suffices(smallest)
    assert not any(suffices(smallest - {name}) for name in smallest)
    singles = [name for name in order if suffices(frozenset([name]))]
    if singles:
        assert found.smallest == (singles[0],)
    if any(suffices(frozenset([name])) for name in ALTERING) and not suffices(frozenset(HARMLESS)):
        assert len(smallest) == 1
    assert runs.made[smallest] == 3
    assert len(runs.made) <= 45


def test_brittle_controls_are_looked_at_first_where_the_script_fails() -> None:
    runs = Runs(lambda controls: None if "n" in controls else "g" in controls)
    found = find(
        Candidates(likely=(), harmless=HARMLESS, brittle=("m", "n")), runs, lambda names, answer: 3
    )
    assert found == Found(smallest=("g",), runs=3, crashing=("n",))
    assert [*runs.made][:3] == [frozenset(HARMLESS), frozenset("m"), frozenset("n")]
