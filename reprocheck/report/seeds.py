"""What another seed changed, for every kind of report."""

from __future__ import annotations

from reprocheck.language import tr
from reprocheck.model import Check
from reprocheck.model.seeds import Overriding
from reprocheck.report.blocks import Section, Table, section
from reprocheck.report.json_parts import attributes, source_line
from reprocheck.wording import seeds as words


def facts(check: Check) -> list[tuple[str, str]]:
    """Return the rows of a terminal: a label, and what is said."""
    effect = check.seed_effect
    if effect is None:
        return []
    rows = [("seed", words.effect_of(effect)), ("equal", words.equal_up_to(effect))]
    return [(label, sentence) for label, sentence in rows if sentence]


def another_seed(check: Check) -> Section | None:
    """Return the section on the run with another seed; None for a check without one."""
    effect = check.seed_effect
    if effect is None:
        return None
    calls = Table(
        title="Calls that fix a generator all the same",
        heads=("seed", "line of the call"),
        rows=tuple((words.call(one), _line(one)) for one in effect.overriding),
    )
    rows = Table(title="Another seed", heads=("what", "says"), rows=tuple(facts(check)))
    return section("another-seed", tr("What another seed changed"), rows, calls)


def _line(overriding: Overriding) -> str:
    source = overriding.call.source
    return source.at if source else ""


def document(check: Check) -> dict[str, object] | None:
    """Return the effect of another seed as report.json holds it; None where none was tried."""
    effect = check.seed_effect
    if effect is None:
        return None
    origin = attributes(effect.origin, "kind", "name", "value", "other")
    return {
        "origin": {**origin, "source": source_line(effect.origin.source)},
        "differs": effect.differs,
        "first_iteration": effect.first or None,
        "reaches_a_call": effect.reached,
        "first_rung": effect.rung,
        "overridden_by": [
            {
                **attributes(one.call, "what", "value", "setting"),
                "source": source_line(one.source),
                "call": source_line(one.call.source),
            }
            for one in effect.overriding
        ],
    }
