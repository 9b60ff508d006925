"""Controls in rows and words: those that were on in the runs, and the search over them.

For the page, the Markdown and the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from reprocheck.language import count, listed, tr
from reprocheck.model import Check, Conflict, Override, Search, Touch, Tried
from reprocheck.report.blocks import Block, Bullets, Fold, Section, Table, Text, section
from reprocheck.report.json_parts import attributes, source_line
from reprocheck.report.text import fact, joined, line, more, origin, printable

if TYPE_CHECKING:
    from reprocheck.settings.controls import Control

MOST_TOUCHES = 60


def any_shown(check: Check) -> bool:
    """Return whether there is anything to say of controls."""
    return bool(check.record.controls or check.search)


def names(controls: Iterable[str]) -> str:
    """Return the names of controls: `seed + hash-seed`; `unmodified` for none."""
    return " + ".join(map(line, controls)) or "unmodified"


def control_class(name: str) -> str:
    """Return the class of a control: `same numbers`, `same training` or `alters the training`.

    Empty for a name that no longer exists.
    """
    return next((entry.control_class for entry in _entries(name)), "")


def does(name: str) -> str:
    """Return a sentence on the effect of a control."""
    return next((entry.does for entry in _entries(name)), "")


def _entries(name: str) -> list[Control]:
    """Return the table entry of a control in a list; empty for a name that no longer exists."""
    from reprocheck.settings import controls

    return [entry for entry in controls.table() if entry.name == name]


_TIMES = {1: "once", 2: "twice"}
_NOT_TRIED = Tried(controls=(), runs=0, agrees=None, bitwise=None, note="no runs were made with it")
"""The arm of a patch that was not tried."""


def touches(check: Check) -> tuple[Touch, ...]:
    """Return what the controls intercepted or set in run 1.

    If none was on, under the smallest set.
    """
    if check.record.controls and check.runs:
        return check.runs[0].controls.touches
    return _search(check).touches


def overrides(check: Check) -> tuple[Override, ...]:
    """Return values of the user's that controls replaced in arms of the search."""
    return _search(check).overrides


def _search(check: Check) -> Search:
    """Return the search; an empty one if none was made."""
    return check.search or Search(tried=())


def conflicts(check: Check) -> tuple[Conflict, ...]:
    """Return values of the user's that stand against controls, of all runs, each once."""
    return tuple({repr(one): one for run in check.runs for one in run.controls.conflicts}.values())


def unavailable(check: Check) -> tuple[tuple[str, str], ...]:
    """Return controls that could not act, and why, each once."""
    own = [one for run in check.runs for one in run.controls.unavailable]
    return tuple(dict.fromkeys((*own, *_search(check).unavailable)))


def conflict_sentence(conflict: Conflict) -> str:
    """Return a sentence on a value of the script that contradicts a control."""
    kept = value(conflict.value)
    if conflict.source:
        kept = f"{kept} ({origin(conflict.source)})"
    return (
        f"The control `{line(conflict.control)}` would set {line(conflict.what)} to"
        f" {value(conflict.wanted)}; the script sets it to {kept}, and the script's value was kept."
    )


def value(held: object) -> str:
    """Return a value as it is written in code."""
    if isinstance(held, bool):
        return str(held)
    return fact(held)


def touched_value(touch: Touch) -> str:
    """Return the value that a control set; empty if it set none."""
    if touch.value is None:
        return ""
    return value(touch.value)


def acted(check: Check, name: str) -> str:
    """Return the actions of a control: `torch.manual_seed 2 times, random.seed once`."""
    own = [touch for touch in touches(check) if touch.control == name]
    actions = [f"{line(touch.what)} {_times(touch.count)}" for touch in own[:4]]
    if len(own) > 4:
        actions.append(f"{len(own) - 4} more")
    return ", ".join(actions) or "changed nothing that was recorded"


def _times(number: int) -> str:
    return _TIMES.get(number, f"{number:,} times")


def outcome(tried: Tried) -> str:
    """Return the result of the runs of an arm, over all recorded iterations."""
    if tried.agrees is None:
        return "not decided"
    if not tried.agrees:
        return "differ"
    if tried.bitwise:
        return "agree in every bit"
    if tried.another_from is not None:
        return f"agree until iteration {tried.another_from - 1}"
    if tried.diverges_from is not None:
        return f"diverge from iteration {tried.diverges_from}"
    return "agree, not in every bit"


def arm(tried: Tried) -> str:
    """Return the controls and patches of an arm in words."""
    if tried.fixes:
        patched = f"{line(listed(tried.fixes))} patched"
        return joined(" + ", *map(line, tried.controls), patched)
    if not tried.patched:
        return names(tried.controls)
    if not tried.controls:
        return "patched"
    return f"{names(tried.controls)}, patched"


def patch(search: Search) -> str:
    """Return the text of the patch, printable, with its line breaks."""
    return printable(search.patch).rstrip("\n")


def checked(search: Search) -> str:
    """Return a sentence on whether the patch helped; empty without a patch."""
    if not search.patch:
        return ""
    row = search.with_patch or _NOT_TRIED
    if row.agrees is None:
        return tr("Not tried: {note}.", note=line(tr(row.note)))
    if row.bitwise:
        return tr("{runs} runs with it, without any control, agree in every bit.", runs=row.runs)
    if row.another_from is None:
        return tr(
            "{runs} runs with it, without any control, {outcome}.",
            runs=row.runs,
            outcome=outcome(row),
        )
    return tr(
        "{runs} runs with it, without any control, agree in every bit until iteration {last};"
        " another difference remains, from iteration {first} on.",
        runs=row.runs,
        last=row.another_from - 1,
        first=row.another_from,
    )


def without_patch(search: Search | None) -> str:
    """Return why there is no patch to apply: none is known, or the tried one does not help."""
    row = None if search is None else search.with_patch
    if row is None:
        return "there is no patch, and the fix is what to do by hand"
    if row.agrees is None:
        return f"a patch was tried, and its runs failed: {line(row.note)}"
    iteration = row.diverges_from or row.another_from
    if iteration is None:
        return "a patch was tried, and its runs do not agree in every bit"
    return f"a patch was tried and differs from iteration {iteration}"


def summary(check: Check) -> list[str]:
    """Return plain lines: controls that were on, the result of the search, its certainty."""
    lines = []
    if check.record.controls:
        lines.append(f"controls: {names(check.record.controls)}")
    lines += [line(conflict_sentence(conflict)) for conflict in conflicts(check)]
    if check.search:
        lines.append(f"search: {line(check.search.sentence)}")
        lines += filter(None, [line(check.search.confidence)])
    return lines


def search_over_controls(check: Check) -> Section | None:
    """Return the section on the search; None if none was made."""
    if check.search is None:
        return None
    sentence = joined(" ", check.search.sentence, check.search.confidence)
    return section("search", tr("Search over controls"), Text(sentence), _tried_arms(check.search))


def _tried_arms(search: Search) -> Table:
    """Return a row for each arm of the search; those that agree are marked."""
    rows = tuple((arm(one), str(one.runs), outcome(one), line(one.note)) for one in search.tried)
    marked = frozenset(index for index, one in enumerate(search.tried) if one.agrees)
    return Table(
        title="What was tried",
        heads=("controls", "runs", "result", "why"),
        rows=rows,
        numeric=frozenset({1}),
        marked=marked,
        strong=2,
        good=True,
    )


def controls_in_runs(check: Check) -> Section | None:
    """Return the section on the controls that were on, their actions, and those that could not act.

    None if there is nothing to say.
    """
    if not any_shown(check):
        return None
    return section("controls", tr("Controls"), _controls_in_runs(check))


def _controls_in_runs(check: Check) -> Iterator[Block]:
    if check.record.controls:
        yield Text(
            "The runs were made under these controls, so the verdict holds for the training under"
            " them.",
            "lead",
        )
        yield _controls_on(check)
    yield from (Text(conflict_sentence(one), "note") for one in conflicts(check))
    yield _overridden(check)
    inactive = tuple(f"`{line(name)}` could not act: {why}" for name, why in unavailable(check))
    if inactive:
        yield Bullets(items=inactive)
    touched = _touched(check)
    if touched.rows:
        rows = count(len(touched.rows), "row")
        yield Fold(title=f"{touched.title} ({rows})", blocks=(touched,))


def _controls_on(check: Check) -> Table:
    """Return a table of the controls that were on: class, and actions in run 1."""
    rows = tuple(
        (line(name), control_class(name), acted(check, name)) for name in check.record.controls
    )
    heads = ("control", "class", "touched")
    return Table(title="Controls that were on", heads=heads, rows=rows, strong=0, captioned=False)


def _touched(check: Check) -> Table:
    """Return every call and value that controls touched."""
    every = touches(check)
    rows = tuple(
        (
            line(touch.control),
            line(touch.what),
            f"{touch.count:,}",
            touched_value(touch),
            origin(touch.source),
        )
        for touch in every[:MOST_TOUCHES]
    )
    return Table(
        title="What the controls touched",
        heads=("control", "what", "times", "value", "line"),
        rows=rows,
        numeric=frozenset({2}),
        note=more(len(every) - len(rows), "report.json", "more row"),
        captioned=False,
    )


def _overridden(check: Check) -> Table:
    """Return a table of the user's values that controls replaced in the search.

    It has those, too, that were kept despite a control.
    """
    replaced: list[tuple[Override | Conflict, str, str]] = [
        (one, value(one.old), value(one.new)) for one in overrides(check)
    ]
    stood = [
        (one, value(one.value), f"stood; {value(one.wanted)} wanted") for one in conflicts(check)
    ]
    return Table(
        title="Overrides and conflicts",
        heads=("control", "what", "the user's value", "became", "line"),
        rows=tuple(
            (line(one.control), line(one.what), before, after, origin(one.source))
            for one, before, after in (*replaced, *stood)
        ),
    )


def document(check: Check) -> dict[str, object] | None:
    """Return the part `controls` of report.json; None if no control was on or tried."""
    if not any_shown(check):
        return None
    search = _search(check)
    return {
        "on": check.record.controls,
        "touched": [_at(one, "control", "what", "count", "value") for one in touches(check)],
        "overrides": [_at(one, "control", "what", "old", "new") for one in overrides(check)],
        "conflicts": [_at(one, "control", "what", "value", "wanted") for one in conflicts(check)],
        "unavailable": [{"control": name, "why": why} for name, why in unavailable(check)],
        "tried": list(map(_tried, search.tried)),
        **attributes(search, "smallest", "fixes", "sentence", "confidence", "fix", "patch"),
    }


def _at(one: Touch | Override | Conflict, *names: str) -> dict[str, object]:
    """Return some attributes with the line of the script that they belong to."""
    return {**attributes(one, *names), "source": source_line(one.source)}


def _tried(tried: Tried) -> dict[str, object]:
    return attributes(
        tried,
        "controls",
        "runs",
        "agrees",
        "bitwise",
        "patched",
        "fixes",
        "suffices",
        "acted",
        "reference",
        "spared",
        "reason",
        "note",
        "another_from",
        "diverges_from",
    )
