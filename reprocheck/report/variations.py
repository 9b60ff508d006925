"""The variations of a check, for every kind of report."""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.language import tr
from reprocheck.model import Check
from reprocheck.model.variations import Variations
from reprocheck.report.blocks import Block, Section, Table, Text, section
from reprocheck.report.json_parts import attributes, source_line
from reprocheck.report.text import line
from reprocheck.settings.variations import table
from reprocheck.wording import variations as words

_OUTCOMES = {True: "agree", False: "differ", None: "undecided"}


def facts(check: Check) -> list[tuple[str, str]]:
    """Return the rows of a terminal: a label, and what is said."""
    found = check.variations
    if found is None:
        return []
    rows = [("varied", words.covered(found)), ("proof", words.proof(found))]
    rows += [("depends", words.depends(guilty)) for guilty in found.guilty[1:]]
    return [(label, sentence) for label, sentence in rows if sentence]


def what_was_varied(check: Check) -> Section | None:
    """Return the section on variations; None for a check without them."""
    found = check.variations
    if found is None:
        return None
    lead = "Run 2 had another value of what must not matter to a training."
    if words.is_seeded(found):
        lead = (
            "Each run behind the first one had other values of what must not matter to a training"
            f" ({words.in_runs(found)})."
        )
    return section("variations", tr("What was varied"), Text(lead, "hint"), _blocks(found))


def _blocks(found: Variations) -> Iterator[Block]:
    sentence = words.proof(found)
    if sentence:
        yield Text(sentence, "lead")
    does = {row.name: row.does for row in table()}
    rows = [(name, does.get(name, ""), _result(found, name)) for name in found.made]
    rows += [(name, does.get(name, ""), words.why_not(why)) for name, why in found.left_out]
    guilty = {one.name for one in found.guilty}
    yield Table(
        title="Variations",
        heads=("variation", "what was other", "result"),
        rows=tuple(rows),
        marked=frozenset(index for index, row in enumerate(rows) if row[0] in guilty),
        captioned=False,
    )
    yield Table(
        title="Trials",
        heads=("varied", "result"),
        rows=tuple((_shown(one.varied), _outcome(one.agrees, one.broke)) for one in found.tried),
    )


def _shown(varied: tuple[str, ...]) -> str:
    return ", ".join(varied) or "nothing, in two runs"


def _outcome(agrees: bool | None, broke: bool) -> str:
    return "the script failed" if broke else _OUTCOMES[agrees]


def _result(found: Variations, name: str) -> str:
    guilty = next((one for one in found.guilty if one.name == name), None)
    if guilty is None:
        return ""
    place = "" if guilty.source is None else f" ({line(guilty.source.at)})"
    return f"the training depends on it{place}"


def document(check: Check) -> dict[str, object] | None:
    """Return the variations as report.json holds them; None for a check without them."""
    found = check.variations
    if found is None:
        return None
    return {
        **attributes(found, "made", "runs", "among"),
        "seed": found.seed if words.is_seeded(found) else None,
        "left_out": [{"name": name, "why": why} for name, why in found.left_out],
        "guilty": [
            {**attributes(one, "name", "what"), "source": source_line(one.source)}
            for one in found.guilty
        ],
        "agree_without": found.plain,
        "agree_with_the_rest": found.rest,
        "tried": [attributes(one, "varied", "agrees", "broke") for one in found.tried],
    }
