"""Controls in rows and words: those that were on in the runs, and the search over them.

For the page, the Markdown and the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from reprocheck.language import joined, listed, mark, tr
from reprocheck.model import Check, Conflict, Override, Search, Touch, Tried
from reprocheck.report.json_parts import attributes, source_line
from reprocheck.report.text import fact, line, printable
from reprocheck.report.why import origin

if TYPE_CHECKING:
    from reprocheck.settings.controls import Control


def any_shown(check: Check) -> bool:
    """Return whether there is anything to say of controls."""
    return bool(check.record.controls or check.search)


def names(controls: Iterable[str]) -> str:
    """`seed + hash-seed`; `unmodified` for none."""
    return " + ".join(map(line, controls)) or tr("unmodified")


def control_class(name: str) -> str:
    """Return what a control may change: `same numbers`, `same training` or `alters the training`;
    empty for a name that is not known any more.
    """
    return tr(next((found.control_class for found in _entries(name)), ""))


def does(name: str) -> str:
    """Return what a control does, in one sentence."""
    return tr(next((found.does for found in _entries(name)), ""))


def _entries(name: str) -> list[Control]:
    """Return the entry of a control in the table; nothing for a name that is not known any more."""
    from reprocheck.settings import controls

    return [found for found in controls.table() if found.name == name]


_TIMES = {1: mark("once"), 2: mark("twice")}
_WITH_PATCH = mark("{runs} runs with it, without any control, {outcome}.")
_NOT_TRIED = Tried(
    controls=(), runs=0, agrees=None, bitwise=None, note=mark("no runs were made with it")
)
"""The arm of a patch that was not tried."""


def touches(check: Check) -> tuple[Touch, ...]:
    """Return what the controls did in run 1; under the smallest set, where none was on."""
    if check.record.controls and check.runs:
        return check.runs[0].controls.touches
    return _search(check).touches


def overrides(check: Check) -> tuple[Override, ...]:
    """Return values of the user's that controls replaced in arms of the search."""
    return _search(check).overrides


def _search(check: Check) -> Search:
    """Return the search; one that tried nothing where none was made."""
    return check.search or Search(tried=())


def conflicts(check: Check) -> tuple[Conflict, ...]:
    """Return values of the user's that stand against controls, of all runs, each once."""
    return tuple({repr(one): one for run in check.runs for one in run.controls.conflicts}.values())


def unavailable(check: Check) -> tuple[tuple[str, str], ...]:
    """Return controls that could not act, and why, each once."""
    own = [one for run in check.runs for one in run.controls.unavailable]
    return tuple(dict.fromkeys((*own, *_search(check).unavailable)))


def conflict_sentence(conflict: Conflict) -> str:
    """Return what stands against a control."""
    kept = value(conflict.value)
    if conflict.source:
        kept = f"{kept} ({origin(conflict.source)})"
    return tr(
        "The control `{control}` would set {what} to"
        " {wanted}; the script sets it to {kept}, and the"
        " script's value was kept.",
        control=line(conflict.control),
        what=line(conflict.what),
        wanted=value(conflict.wanted),
        kept=kept,
    )


def value(held: object) -> str:
    """Return a value as code has it."""
    if isinstance(held, bool):
        return str(held)
    return fact(held)


def touched_value(touch: Touch) -> str:
    """Return the value that a control set; empty where it set none."""
    if touch.value is None:
        return ""
    return value(touch.value)


def acted(check: Check, name: str) -> str:
    """Return what a control did in a few words: `torch.manual_seed 2 times, random.seed once`."""
    found = [touch for touch in touches(check) if touch.control == name]
    said = [f"{line(touch.what)} {_times(touch.count)}" for touch in found[:4]]
    if len(found) > 4:
        said.append(tr("{number} more", number=len(found) - 4))
    return joined(tr(", "), said) or tr("changed nothing that was recorded")


def _times(number: int) -> str:
    return tr(_TIMES.get(number, "{number:,} times"), number=number)


def outcome(tried: Tried) -> str:
    """Return what the runs of an arm said, over all recorded iterations."""
    if tried.agrees is None:
        return tr("not decided")
    if not tried.agrees:
        return tr("differ")
    if tried.bitwise:
        return tr("agree in every bit")
    if tried.another_from is not None:
        return tr("agree until iteration {iteration}", iteration=tried.another_from - 1)
    if tried.diverges_from is not None:
        return tr("diverge from iteration {iteration}", iteration=tried.diverges_from)
    return tr("agree, not in every bit")


def arm(tried: Tried) -> str:
    """Return what an arm was made under."""
    if tried.fixes:
        patched = tr("{lines} patched", lines=line(listed(tried.fixes)))
        return joined(" + ", (*map(line, tried.controls), patched))
    if not tried.patched:
        return names(tried.controls)
    if not tried.controls:
        return tr("patched")
    return tr("{names}, patched", names=names(tried.controls))


def patch(search: Search) -> str:
    """Return the patch, printable, its line breaks kept."""
    return printable(search.patch).rstrip("\n")


def checked(search: Search) -> str:
    """Return what is known of the patch; empty without one."""
    if not search.patch:
        return ""
    row = search.with_patch or _NOT_TRIED
    if row.agrees is None:
        return tr("Not tried: {note}.", note=line(tr(row.note)))
    if row.another_from is None:
        return tr(_WITH_PATCH, runs=row.runs, outcome=outcome(row))
    both = tr(
        "agree in every bit until iteration {last}; another difference remains, from iteration"
        " {first} on",
        last=row.another_from - 1,
        first=row.another_from,
    )
    return tr(_WITH_PATCH, runs=row.runs, outcome=both)


def without_patch(search: Search | None) -> str:
    """Return why there is no patch to write: none is known, or the one that was tried does not
    help.
    """
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
    """Plain lines: controls that were on, what the search found, and how sure that is."""
    found = [line(conflict_sentence(one)) for one in conflicts(check)]
    if check.record.controls:
        found.insert(0, tr("controls: {names}", names=names(check.record.controls)))
    if check.search:
        found.append(tr("search: {sentence}", sentence=line(check.search.sentence)))
        found += filter(None, [line(check.search.confidence)])
    return found


def document(check: Check) -> dict[str, object] | None:
    """Return the part `controls` of report.json; None where no control was on and none was
    tried.
    """
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
