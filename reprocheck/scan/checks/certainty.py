"""Lower the severity of a finding by what the program does not show of a training.

A rule has its full severity if the program trains in a loop, the value that was found goes into
that training, and the code is meant for training. Each of these that is not seen lowers the
severity by one step: from an error to a warning, from a warning to a note. Which doubts count for
which rule, and which findings may be errors at all, follows from 1,400 findings in public code that
were read by hand (`benchmarks/scan_reports/judgements.tsv`). Findings in a file that the user named
on the command line, rather than its folder, keep their severity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reprocheck.rules.catalogue import Severity
from reprocheck.scan.checks import (
    doubts,
    tables,
)
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit
from reprocheck.scan.steps import Call

_LEVELS: tuple[Severity, ...] = ("error", "warning", "note")


def lowered(order: Order, hit: Hit, severity: Severity) -> Severity:
    """Return the severity of a finding after all doubts: at most `severity`, that of its rule."""
    if severity == "note" or order.root.single or hit.module.single:
        return severity
    own_doubts = _DOUBTS.get(hit.code, _OF_PROGRAMS)
    # A call that trains by itself, or has a generator of its own, needs no more of a training.
    if isinstance(hit.step, Call) and hit.step.name in tables.libraries():
        own_doubts = (doubts.is_for_others, doubts.is_pictured)
    steps = sum(doubt(order, hit) for doubt in own_doubts)
    level = _LEVELS[min(_LEVELS.index(severity) + steps, len(_LEVELS) - 1)]
    # Of other rules too few were read in public code, or too few of those were right.
    may_be_error = hit.code in _ERRORS and _ERRORS[hit.code](order)
    if level == "error" and not may_be_error:
        return "warning"
    return level


Doubt = Callable[[Order, Hit], int]
"""What is not seen, and how many steps that takes."""


def _refuted_by(doubt: Doubt) -> Doubt:
    """Return a doubt that counts twice, so that an error becomes a note: findings for which this
    doubt was true were mostly wrong.
    """

    def refutes(order: Order, hit: Hit) -> int:
        return 2 * doubt(order, hit)

    return refutes


_OF_PROGRAMS: tuple[Doubt, ...] = (doubts.is_without_loop, doubts.is_for_others)
_OF_VALUES: tuple[Doubt, ...] = (*_OF_PROGRAMS, _refuted_by(doubts.goes_elsewhere))
_OF_NUMBERS: tuple[Doubt, ...] = (
    *_OF_PROGRAMS,
    doubts.is_beside_loop,
    _refuted_by(doubts.may_be_replaced),
)
_OF_LAYERS: tuple[Doubt, ...] = (
    doubts.is_without_loop,
    _refuted_by(doubts.is_for_others),
    _refuted_by(doubts.is_far_from_optimizer),
    _refuted_by(doubts.may_be_replaced),
    _refuted_by(doubts.is_drawn_again),
)
"""Warnings about weights were wrong in 12 of 15 places."""
_OF_ORDERS: tuple[Doubt, ...] = (
    doubts.is_for_others,
    doubts.is_kept_from_training,
    _refuted_by(doubts.is_for_evaluation),
)
_OF_NETS: tuple[Doubt, ...] = (*_OF_PROGRAMS, _refuted_by(doubts.fits_classifiers_alone))
_RARELY_RIGHT: tuple[Doubt, ...] = (*_OF_PROGRAMS, doubts.always)
_DOUBTS: Mapping[str, tuple[Doubt, ...]] = {
    **dict.fromkeys(("RC101", "RC305", "RC504", "RC510", "RC701", "RC902"), _RARELY_RIGHT),
    "RC104": (
        doubts.is_for_others,
        doubts.is_idle,
        doubts.goes_elsewhere,
        doubts.is_only_one,
        _refuted_by(doubts.is_for_evaluation),
    ),
    **dict.fromkeys(("RC301", "RC302"), _OF_LAYERS),
    "RC303": (*_RARELY_RIGHT, _refuted_by(doubts.is_far_from_optimizer)),
    "RC401": (*_OF_VALUES, doubts.is_under_condition),
    "RC402": (
        *_OF_PROGRAMS,
        _refuted_by(doubts.is_path),
        _refuted_by(doubts.is_left_out),
        doubts.is_unsure,
    ),
    "RC406": _OF_NUMBERS,
    "RC407": (
        *_OF_VALUES,
        doubts.is_seeded_in_some_way,
        doubts.is_one_of_several,
        _refuted_by(doubts.is_played),
        doubts.is_drawn_on_request,
    ),
    **dict.fromkeys(("RC501", "RC512"), _OF_ORDERS),
    **dict.fromkeys(("RC502", "RC507"), _OF_VALUES),
    "RC505": (*_OF_VALUES, doubts.is_unsure, doubts.is_careful),
    "RC508": (*_OF_VALUES, doubts.is_of_queue),
    "RC511": (*_OF_VALUES, _refuted_by(doubts.is_for_evaluation)),
    "RC602": _OF_NETS,
    "RC703": (doubts.is_for_others,),
    "RC706": (*_OF_NETS, doubts.has_no_convolution, doubts.is_for_tests),
}
"""What each rule must show. Other rules need a training in a loop, and code that is for it."""


def _where_nothing_seeds(order: Order) -> bool:
    return not doubts.speaks_of_seeds(order)


_ERRORS: Mapping[str, Callable[[Order], bool]] = {
    # An optimizer takes these weights: right in 177 of 180 places.
    "RC301": lambda order: True,
    # The layer draws in each pass. Where the program speaks of seeds, it may reach it in a way that
    # is not seen: 14 of 17 places there, 9 of 9 elsewhere.
    "RC401": _where_nothing_seeds,
    # A program that trains seeds from the clock itself, and no function that something else calls.
    "RC402": lambda order: order.whole,
    # Libraries and environments have their own ways to be seeded: right in 19 of 20 places where
    # the program speaks of none, in 9 of 15 elsewhere.
    "RC407": _where_nothing_seeds,
    # The order, the changes and the choice of the samples of a training: right in 108 of 110.
    **dict.fromkeys(("RC501", "RC511", "RC512"), lambda order: True),
}
"""Rules of which a finding in a folder may be an error, and what that needs."""
