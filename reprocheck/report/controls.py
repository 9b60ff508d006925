"""Controls in rows and words: those that were on in the runs, and the search over them.

For the page, the Markdown and the terminal.
"""

from __future__ import annotations

from collections.abc import Iterable

from reprocheck.model import Check, Conflict, Override, Search, SourceLine, Touch, Tried
from reprocheck.report.text import fact, line, printable
from reprocheck.report.why import origin


def any_shown(check: Check) -> bool:
    """Whether there is anything to say of controls."""
    return bool(check.record.controls or check.search)


def names(controls: Iterable[str]) -> str:
    """`seed + hash-seed`; `as it is` for none."""
    return " + ".join(map(line, controls)) or "as it is"


def control_class(name: str) -> str:
    """What a control may change: `same numbers`, `same training` or `alters the training`; empty
    for a name that is not known any more.
    """
    from reprocheck.settings import controls

    return next((found.control_class for found in controls.table() if found.name == name), "")


def does(name: str) -> str:
    """What a control does, in one sentence."""
    from reprocheck.settings import controls

    return next((found.does for found in controls.table() if found.name == name), "")


_NO_SEARCH = Search(tried=())


# -------------------------------------------------------------------------------------- what was on


def touches(check: Check) -> tuple[Touch, ...]:
    """What the controls did in run 1; under the smallest set, where none was on."""
    if check.record.controls and check.runs:
        return check.runs[0].controls.touches
    return _search(check).touches


def overrides(check: Check) -> tuple[Override, ...]:
    """Values of the user's that controls replaced in arms of the search."""
    return _search(check).overrides


def _search(check: Check) -> Search:
    """The search; one that tried nothing where none was made."""
    return check.search or _NO_SEARCH


def conflicts(check: Check) -> tuple[Conflict, ...]:
    """Values of the user's that stand against controls, of all runs, each once."""
    return tuple({repr(one): one for run in check.runs for one in run.controls.conflicts}.values())


def unavailable(check: Check) -> tuple[tuple[str, str], ...]:
    """Controls that could not act, and why, each once."""
    own = [one for run in check.runs for one in run.controls.unavailable]
    return tuple(dict.fromkeys((*own, *_search(check).unavailable)))


def conflict_sentence(conflict: Conflict) -> str:
    """What stands against a control."""
    where = f" ({origin(conflict.source)})" if conflict.source else ""
    return (
        f"The control `{line(conflict.control)}` would set {line(conflict.what)} to"
        f" {value(conflict.wanted)}; the script sets it to {value(conflict.value)}{where}, and the"
        " script's value was kept."
    )


def value(held: object) -> str:
    """A value as code has it."""
    return str(held) if isinstance(held, bool) else fact(held)


def acted(check: Check, name: str) -> str:
    """What a control did in a few words: `torch.manual_seed 2 times, random.seed once`."""
    found = [touch for touch in touches(check) if touch.control == name]
    said = [f"{line(touch.what)} {_times(touch.count)}" for touch in found[:4]]
    more = [f"{len(found) - 4} more"] if len(found) > 4 else []
    return ", ".join([*said, *more]) or "changed nothing that was recorded"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


# --------------------------------------------------------------------------------------- the search


def outcome(tried: Tried) -> str:
    """What the runs of an arm said, over all recorded iterations."""
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
    """What an arm was made under."""
    if not tried.patched:
        return names(tried.controls)
    return f"{names(tried.controls)}, patched".removeprefix("as it is, ")


def cost(search: Search) -> str:
    """What the fix costs in time; empty where it is not known."""
    if search.cost is None:
        return ""
    patched = any(one.patched and one.agrees is not None for one in search.tried)
    under = "With the patch" if patched else f"Under {names(search.smallest)}"
    if search.cost_of == "step":
        return f"{under} a step takes {search.cost:.2f} times as long as without."
    return (
        f"{under} a whole run takes {search.cost:.2f} times as long as without; its steps are too"
        " short to be measured one by one."
    )


def patch(search: Search) -> str:
    """The patch, printable, its line breaks kept."""
    return printable(search.patch).rstrip("\n")


def checked(search: Search) -> str:
    """What is known of the patch; empty without one."""
    if not search.patch:
        return ""
    row = next((one for one in search.tried if one.patched), None)
    if row is None or row.agrees is None:
        return f"Not tried: {line(row.note) if row else 'no runs were made with it'}."
    runs = f"{row.runs} runs with it, without any control,"
    if row.another_from is None:
        return f"{runs} {outcome(row)}."
    both = (
        f"agree in every bit until iteration {row.another_from - 1}; another difference remains,"
        f" from iteration {row.another_from} on"
    )
    return f"{runs} {both}."


def summary(check: Check) -> list[str]:
    """Plain lines: controls that were on, what the search found, and how sure that is."""
    found = [line(conflict_sentence(one)) for one in conflicts(check)]
    if check.record.controls:
        found.insert(0, f"controls: {names(check.record.controls)}")
    if check.search:
        found.append(f"search: {line(check.search.sentence)}")
        found += filter(None, (line(check.search.confidence), line(cost(check.search))))
    return found


# -------------------------------------------------------------------------------------- report.json


def document(check: Check) -> dict[str, object] | None:
    """The part `controls` of report.json; None where no control was on and none was tried."""
    if not any_shown(check):
        return None
    search = _search(check)
    return {
        "on": check.record.controls,
        "touched": [_touch(one) for one in touches(check)],
        "overrides": [
            {
                "control": one.control,
                "what": one.what,
                "old": one.old,
                "new": one.new,
                "source": _source(one.source),
            }
            for one in overrides(check)
        ],
        "conflicts": [
            {
                "control": one.control,
                "what": one.what,
                "value": one.value,
                "wanted": one.wanted,
                "source": _source(one.source),
            }
            for one in conflicts(check)
        ],
        "unavailable": [{"control": name, "why": why} for name, why in unavailable(check)],
        "tried": [_tried(one) for one in search.tried],
        "smallest": search.smallest,
        "sentence": search.sentence,
        "confidence": search.confidence,
        "fix": search.fix,
        "patch": search.patch,
        "cost": search.cost,
        "cost_of": search.cost_of,
    }


def _touch(touch: Touch) -> dict[str, object]:
    return {
        "control": touch.control,
        "what": touch.what,
        "count": touch.count,
        "value": touch.value,
        "source": _source(touch.source),
    }


def _tried(tried: Tried) -> dict[str, object]:
    names = (
        "controls",
        "runs",
        "agrees",
        "bitwise",
        "patched",
        "note",
        "another_from",
        "diverges_from",
    )
    return {name: getattr(tried, name) for name in names}


def _source(source: SourceLine | None) -> dict[str, object] | None:
    return {"file": source.file, "line": source.line} if source else None
