"""How sure a search is of a set of controls, as values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.model.statements.search import Agreement, Certainty, Sample
from reprocheck.search.chance import bound, luck
from reprocheck.search.conclusion import certainty

FOUR = Sample(runs=4, odd=3)
UNDER = Agreement(names=("seed",), runs=4, arms=("1-seed",), exact=True, later=None, seen=FOUR)


def test_of_runs_that_follow_from_each_other_no_chance_is_told() -> None:
    carried = replace(FOUR, pairs=2, carried=True)
    assert certainty(replace(UNDER, seen=carried)) == carried


def test_all_runs_that_agree_speak_against_chance() -> None:
    assert certainty(UNDER) == Certainty(under=UNDER, proving=4, luck=luck(FOUR, 4), bound=bound(4))


def test_runs_that_chose_the_set_do_not_prove_it() -> None:
    mixed = Sample(runs=6, odd=3)
    sure = certainty(replace(UNDER, seen=mixed))
    assert isinstance(sure, Certainty)
    assert (sure.proving, sure.luck, sure.bound) == (2, luck(mixed, 2), bound(2))


@pytest.mark.parametrize(("enough", "wanted", "more"), [(7, 7, False), (61, 60, True)])
def test_where_too_few_agree_it_says_how_many_must(enough: int, wanted: int, more: bool) -> None:
    sure = certainty(UNDER, enough)
    assert isinstance(sure, Certainty)
    assert (sure.wanted, sure.more) == (wanted, more)
