"""The mechanism behind a rung that differs: a table of rules over what the rung shows.

The first rule that holds names the entry of the catalogue. Rules that name a narrower mechanism
stand before those that name a wider one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from reprocheck.resume.gap import evidence

Rule = tuple[str, Callable[[Any], object]]


def _always(_: evidence.Gap) -> bool:
    return True


def name_of(gap: evidence.Gap) -> str | None:
    """Return the name of the catalogue entry that a gap shows; None if none fits."""
    rules = _RULES.get(type(gap), ())
    return next((name for name, holds in rules if holds(gap)), None)


OF_GENERATOR: Sequence[Rule] = [
    ("resume-rng-of-other-rank", lambda gap: gap.of_rank is not None),
    ("resume-rng-reseeded", lambda gap: gap.reseeded is not None),
    ("resume-rng-consumed", lambda gap: gap.restored and (gap.ahead or 0) > 0),
    ("resume-rng-not-restored", _always),
]


def _of_generator(attribute: str) -> list[Rule]:
    """Return `OF_GENERATOR` for the generator in an attribute of a batch that differs."""
    generator = attrgetter(attribute)

    def of(holds: Callable[[Any], object]) -> Callable[[Any], object]:
        return lambda gap: generator(gap) is not None and holds(generator(gap))

    return [(name, of(holds)) for name, holds in OF_GENERATOR]


def _skips_an_epoch(gap: evidence.BatchGap) -> bool:
    """Return whether a pass begins at its start, but in the order of a later epoch.

    The later epoch is a known one, or its order is none of the earlier ones and was drawn from no
    generator.
    """
    if gap.expected.position != 0:
        return False
    is_none_before = gap.position == 0 and gap.found is None
    drawn = gap.drawn_from or gap.unrestored
    return gap.epochs_ahead > 0 or (is_none_before and not drawn)


def _applies_its_offset_again(gap: evidence.BatchGap) -> bool:
    """Return whether the next epoch does not begin at its beginning."""
    if not gap.later_pass or gap.expected.position != 0:
        return False
    passed_over = bool(gap.position)
    return passed_over or gap.came.epoch == gap.expected.epoch


def _begins_again(gap: evidence.BatchGap) -> bool:
    """Return whether the resumed run begins its pass anew, in the middle of an epoch."""
    if not gap.expected.position or gap.later_pass or _is_ahead(gap):
        return False
    position = gap.position if gap.position is not None else gap.came.position
    return position == 0


def _has_the_first_order(gap: evidence.BatchGap) -> bool:
    if gap.first_epoch or not gap.expected.epoch:
        return gap.first_epoch
    return gap.came.epoch == 0 and gap.came.position == gap.expected.position


def _is_ahead(gap: evidence.BatchGap) -> bool:
    """Return whether a later batch came than the one that was due.

    The batch is of the same epoch, or the first of the next one, whose order was not drawn anew.
    """
    return gap.batches_ahead > 0 or (gap.begins_the_next_epoch and not gap.drawn_from)


def _is_made_of_others(gap: evidence.BatchGap) -> bool:
    """Return whether a buffer was lost from which batches are packed or drawn.

    No batch is the same then.
    """
    is_drawn_by_the_script = gap.without_loader and gap.found is None and not gap.may_be_drawn
    is_another = gap.strange or is_drawn_by_the_script
    return is_another and not gap.content and gap.iteration == 1


_RULES: Mapping[type, Sequence[Rule]] = {
    evidence.WeightsGap: [("resume-part-not-loaded", lambda gap: not gap.all_initial)],
    evidence.AttributeGap: [("resume-part-not-loaded", _always)],
    evidence.OptimizerGap: [("resume-optimizer-state", _always)],
    evidence.ScheduleGap: [("resume-optimizer-state", _always)],
    evidence.AverageGap: [("resume-optimizer-state", _always)],
    evidence.CounterGap: [("resume-step-counter", _always)],
    evidence.GeneratorGap: OF_GENERATOR,
    evidence.SharesGap: [("resume-other-ranks", _always)],
    evidence.BatchGap: [
        ("resume-offset-again", lambda gap: gap.passed_over),
        ("resume-epoch-skipped", lambda gap: gap.ended),
        ("resume-rng-not-restored", lambda gap: gap.content and gap.unrestored),
        *_of_generator("made_from"),
        ("resume-offset-again", _applies_its_offset_again),
        ("resume-epoch-skipped", _skips_an_epoch),
        ("resume-rng-not-restored", lambda gap: gap.without_loader and gap.unrestored),
        ("resume-loader-position", _begins_again),
        ("resume-rng-not-restored", lambda gap: bool(set(gap.drawn_from) & set(gap.unrestored))),
        ("resume-first-order", _has_the_first_order),
        *_of_generator("order_from"),
        ("resume-rng-not-restored", lambda gap: gap.unrestored),
        ("resume-epoch-skipped", lambda gap: gap.first_pass and gap.begins_the_next_epoch),
        ("resume-samples-in-flight", lambda gap: gap.begins_the_next_epoch),
        ("resume-redrawn-order", lambda gap: gap.same_order is False),
        ("resume-samples-in-flight", _is_ahead),
        ("resume-loader-position", lambda gap: gap.batches_ahead < 0),
        # the samples are those of the continued run: what makes them is the same
        ("resume-redrawn-order", lambda gap: gap.is_uneven and not gap.strange),
        ("resume-samples-in-flight", _is_made_of_others),
    ],
}
