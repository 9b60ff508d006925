"""What the search in a report folder came to: which runs it needs next, the smallest set, the confirmed cause and the fix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from reprocheck import controls, rules
from reprocheck.explain import search_chance as chance
from reprocheck.explain import search_order
from reprocheck.explain.cause import VAGUE
from reprocheck.explain.search import PAIR, Answer, Found, Question, Unanswered, find
from reprocheck.explain.search_arms import Book, Judged, within_tolerance_only
from reprocheck.explain.search_noise import remaining
from reprocheck.model import Cause, Check, RunRecord, Search, Tried

Item = TypeVar("Item")

PATCH = "fix.patch"
"""In the report folder, under `arms`: the patch of the user's source that was found."""
AS_IS, AS_IS_UNSPECIFIC, AS_IS_INTERMITTENT = 4, 6, (6, 8)
"""Runs as they are that are wanted: two pairs, three where the ladder does not point at what is confirmed, more where runs agree."""
SHOWN, FITTING, UNSPECIFIC = 0.1, 0.05, 0.02
"""The risk of luck that is taken: where the ladder shows a cause that the set removes, where a line of the user's fits one, elsewhere."""
MOST_RUNS = 8
"""Runs an arm where the difference comes and goes, unless the check was made with more."""
INEXACT = 2
"""More runs where they agree up to rounding alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """The search with the causes as it leaves them. `confirmed`: whether chance is excluded."""

    search: Search
    causes: tuple[Cause, ...]
    confirmed: bool = False


def question(check: Check, folder: Path) -> Question | None:
    """The runs that the search in `folder` needs next; None where it has come to its end.

    The check is one with its ladder and with the causes as the ladder shows them; its record holds the arms made so far.
    """
    try:
        _conducted(check, folder, Book(check, folder))
    except Unanswered as missing:
        return missing.question
    return None


def decided(check: Check, folder: Path, names: Sequence[str]) -> bool:
    """Whether the runs under controls that are recorded by now differ, or fail: more of them can say nothing else."""
    under = Book(check, folder).of(names)
    return under is not None and (under.agrees is False or under.failed is not None)


def searched(check: Check, folder: Path) -> Result | None:
    """What the search in `folder` has come to by now; None where none was made."""
    if not check.record.arms:
        return None
    book = Book(check, folder)
    try:
        found = _conducted(check, folder, book)
    except Unanswered as missing:
        said = "The search was broken off before it had come to an end."
        return Result(
            search=Search(**_account(book), sentence=said, confidence=f"Next to try: {missing.question.why}."),
            causes=(*check.causes, *_refusals(book)),
        )
    return _result(check, folder, book, found)


def patch_holds(check: Check, folder: Path) -> bool:
    """Whether the runs with the patch agree."""
    patched = Book(check, folder).of((), patched=True)
    return patched is not None and patched.agrees is True


def _conducted(check: Check, folder: Path, book: Book) -> Found:
    _as_is(book, AS_IS, "to see how steady the difference is")
    seen, most = book.sample, max(len(check.runs), MOST_RUNS)
    least = chance.needed(seen, FITTING if seen.intermittent else SHOWN)
    for target in AS_IS_INTERMITTENT:
        if seen.intermittent and least > AS_IS:
            _as_is(book, max(len(check.runs), target), "since the difference comes and goes")

    def needed(names: tuple[str, ...], answer: Answer) -> int:
        if not seen.intermittent and any(_risk(check, name) == UNSPECIFIC for name in names):
            _as_is(book, AS_IS_UNSPECIFIC, "to exclude that runs agree by chance")
        return _wanted(check, book, names, answer.exact)

    runs = min(least, most) if seen.intermittent else PAIR
    return find(search_order.candidates(check, folder), book.ask, needed, runs=runs, most=most, whole=least <= most)


def _as_is(book: Book, target: int, aim: str) -> None:
    """Raises Unanswered where fewer than `target` runs were made as they are."""
    own = book.of(())
    made, missing = len(own.runs) if own else 0, target - book.sample.runs
    if missing > 0 and made < target:
        raise Unanswered(Question(controls=(), runs=made + max(missing, PAIR), why=f"as it is once more, {aim}"))


def _wanted(check: Check, book: Book, names: Sequence[str], exact: bool) -> int:
    """How many runs under a set must agree."""
    seen = book.sample
    risk = min(_risk(check, name) for name in names)
    return chance.needed(seen, min(risk, FITTING) if seen.intermittent else risk) + (0 if exact else INEXACT)


def _risk(check: Check, name: str) -> float:
    """The less the runs and the source speak for a control, the less luck is allowed."""
    removed = [one for one in check.causes if one.code not in VAGUE and search_order.place_of(name, one.code) is not None]
    if any(cause.confidence == "observed" for cause in removed):
        return SHOWN
    return FITTING if any(cause.source for cause in removed) else UNSPECIFIC


# ---------------------------------------------------------------------------------------------------------------- the result


def _result(check: Check, folder: Path, book: Book, found: Found) -> Result:
    refused = _refusals(book)
    under = book.of(found.smallest) if found.smallest else None
    if under is None or not found.smallest:
        said = remaining(check, found, book)
        return Result(search=Search(**_account(book), sentence=said, confidence=_counted(book)), causes=(*check.causes, *refused))
    wanted = _wanted(check, book, found.smallest, under.exact)
    if len(under.runs) < wanted:
        said = f"{_named(found.smallest)} may remove the difference, but that is not shown: {_agreeing(under)}, which can be luck."
        search = Search(**_account(book), sentence=said, confidence=_open(book, under, wanted))
        return Result(search=search, causes=(*check.causes, *refused))
    causes = confirmed(check, found.smallest, _evidence(book, under))
    fix = "\n\n".join(dict.fromkeys(_fixes(check, causes, found.smallest)))
    patch = _read(folder / "arms" / PATCH)
    ratio, of = cost(check, book, under)
    search = Search(
        **_account(book, under),
        smallest=found.smallest,
        sentence=_sentence(found.smallest, under, causes),
        confidence=_confidence(book, under),
        fix=fix,
        patch=patch,
        cost=ratio,
        cost_of=of,
    )
    return Result(search=search, causes=(*causes, *refused), confirmed=True)


def _account(book: Book, under: Judged | None = None) -> dict[str, Any]:
    """What was tried, and what the controls did: overrides of all arms, touches under the smallest set."""
    runs = [run for judged in book.judged for run in judged.runs]
    return {
        "tried": _tried(book),
        "touches": under.runs[0].controls.touches if under else (),
        "overrides": _once(override for run in runs for override in run.controls.overrides),
        "unavailable": _once(pair for run in runs for pair in run.controls.unavailable),
    }


def _once(items: Iterable[Item]) -> tuple[Item, ...]:
    """In order, without repetition."""
    return tuple({repr(item): item for item in items}.values())


def _tried(book: Book) -> tuple[Tried, ...]:
    """As is first, then the arms in their order."""
    check = book.check
    differ = False if check.verdict.exit_code == 1 else None
    as_is = Tried(controls=(), runs=len(check.runs), agrees=differ, bitwise=check.verdict.bitwise.equal, note="as it is")
    return (as_is, *(_row(judged) for judged in book.judged))


def _row(judged: Judged) -> Tried:
    note = judged.why
    if judged.refusal:
        where = f" at {judged.refusal.source.file}:{judged.refusal.source.line}" if judged.refusal.source else ""
        note = f"the script failed: {judged.refusal.operator or judged.refusal.message}{where} has no deterministic implementation"
    elif judged.failed:
        note = f"run {judged.failed.number} {'took too long' if judged.failed.record.ended == 'timed_out' else 'failed'}; {note}"
    elif within_tolerance_only(judged):
        note = f"{note}; within the tolerance, and too far apart for rounding"
    agrees = judged.verdict.exit_code == 0 if judged.verdict.verdict in ("reproducible", "not_reproducible") else None
    return Tried(
        controls=judged.names, runs=len(judged.runs), agrees=agrees, bitwise=judged.verdict.bitwise.equal, patched=judged.patched, note=note
    )


def _refusals(book: Book) -> Iterator[Cause]:
    """Errors of deterministic mode under a control, each once: findings by themselves."""
    seen: set[str] = set()
    for judged in book.judged:
        error, run = judged.refusal, judged.failed
        if error is None or run is None or error.message in seen:
            continue
        seen.add(error.message)
        known = rules.entry(error.name)
        under = f"Seen under {_named(judged.names)}; the search went on without it."
        yield Cause(
            code=known.code,
            title=known.title,
            confidence="observed",
            evidence=(*error.evidence(run.number), under),
            source=error.source,
            fix=known.fix_for((error.framework,)),
        )


# ---------------------------------------------------------------------------------------------------------------- causes and fix


def confirmed(check: Check, smallest: Sequence[str], evidence: str) -> tuple[Cause, ...]:
    """The causes of a check, with those first, as confirmed, that the smallest set removes."""
    left = list(check.causes)
    first: list[Cause] = []
    for name in smallest:
        cause = _removed(left, name) or _implied(check, name)
        if all(cause.code != one.code for one in first):
            first.append(replace(cause, confidence="confirmed", evidence=(evidence, *cause.evidence)))
        left = [one for one in left if one.code != cause.code]
    return (*first, *left)


def _removed(causes: Sequence[Cause], control: str) -> Cause | None:
    """The cause that the control is nearest to; one that says why before one that says what, and then the best."""
    fits = [((cause.code in VAGUE, place), cause) for cause in causes if (place := search_order.place_of(control, cause.code)) is not None]
    return min(fits, key=lambda entry: entry[0])[1] if fits else None


def _implied(check: Check, control: str) -> Cause:
    rung = check.ladder.first_rung if check.ladder else None
    known = rules.entry(search_order.implied(control, rung.rung if rung else ""))
    detail = (rung.detail,) if rung and rung.detail else ()
    return Cause(
        code=known.code,
        title=known.title,
        confidence="confirmed",
        evidence=detail,
        source=rung.source if rung else None,
        fix=known.fix_for(_frameworks(check)),
    )


def _fixes(check: Check, causes: Sequence[Cause], smallest: Sequence[str]) -> Iterator[str]:
    """The fix of each confirmed cause, else that of the control."""
    for cause in causes:
        if cause.confidence == "confirmed" and cause.fix:
            yield cause.fix
    if not any(cause.confidence == "confirmed" and cause.fix for cause in causes):
        yield from (fix for name in smallest if (fix := control_fix(check, name)))


def control_fix(check: Check, name: str) -> str:
    """The code to paste that does in the script what a control does from outside."""
    fixes = controls.control(name).fix
    return next((fixes[framework] for framework in (*_frameworks(check), "python") if framework in fixes), next(iter(fixes.values()), ""))


def _frameworks(check: Check) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for run in check.runs[:1] for trace in run.traces for name in trace.frameworks))


def cost(check: Check, book: Book, under: Judged) -> tuple[float | None, str]:
    """How much longer it takes with the fix, or under the controls, than as it is: of a step where that was measured, else of a run."""
    fixed = book.of((), patched=True) or under
    arms = [arm for arm in book.record.arms if arm.name in fixed.arms]
    as_is, with_fix = check.record.step_seconds, [arm.step_seconds for arm in arms if arm.step_seconds]
    if as_is and with_fix:
        return median(with_fix) / as_is, "step"
    before, after = _seconds(check.record.runs), _seconds([run.record for run in fixed.runs])
    return (after / before, "run") if before and after else (None, "")


def _seconds(runs: Sequence[RunRecord]) -> float:
    """The time of the fastest run, which what else the machine does disturbs least."""
    return min((run.seconds for run in runs if run.ended in ("completed", "stopped")), default=0.0)


# ---------------------------------------------------------------------------------------------------------------- words


def _named(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}" if quoted else "no control"


def _sentence(smallest: Sequence[str], under: Judged, causes: Sequence[Cause]) -> str:
    verb = "removes" if len(smallest) == 1 else "together remove"
    several = "" if len(smallest) == 1 else " None of them can be left out."
    named = [f"{one.code}, {one.title[:1].lower()}{one.title[1:]}" for one in causes if one.confidence == "confirmed"]
    said = f"{_named(smallest)} {verb} the difference: {_agreeing(under)}.{several} That confirms {'; and '.join(named)}."
    return said if under.later is None else f"{said} {_another(smallest, under.later)}"


def _another(smallest: Sequence[str], iteration: int) -> str:
    options = " ".join(f"--control {name}" for name in smallest)
    return f"Another difference remains, from iteration {iteration} on: `reprocheck explain {options}` with the same script looks for it."


def _agreeing(under: Judged) -> str:
    return f"{len(under.runs)} runs under {'it' if len(under.names) == 1 else 'them'} agree {_how(under)}"


def _how(under: Judged) -> str:
    if under.later is not None:
        return f"in every bit up to iteration {under.later - 1}"
    return "in every bit" if under.exact else "but for rounding"


def _evidence(book: Book, under: Judged) -> str:
    where = ", ".join(f"arms/{name}" for name in under.arms)
    counted = _counted(book)
    return f"Under {_named(under.names)} {len(under.runs)} runs agree {_how(under)} ({where}); {counted[:1].lower()}{counted[1:]}"


def _counted(book: Book) -> str:
    """`All 4 runs as they are differ from each other.`"""
    seen = book.sample
    blind = f" ({seen.blind} of them in a loss that is not finite, by which no runs agree)" if seen.blind > 1 else ""
    if not seen.intermittent:
        return (
            f"All {seen.runs} runs as they are differ from each other{blind}." if seen.runs > PAIR else "The two runs as they are differ."
        )
    same = seen.runs - seen.odd
    return f"Of {seen.runs} runs as they are {same} agree with each other and {seen.odd} do not{blind}: the difference comes and goes."


def _confidence(book: Book, under: Judged) -> str:
    runs = len(under.runs)
    lucky, most = chance.luck(book.sample, runs), chance.bound(runs)
    names = _named(under.names)
    return (
        f"{_counted(book)} Were {names} without effect, {runs} runs would agree so in at most {lucky:.1%} of such searches. "
        f"With 95 % confidence at most {most:.0%} of runs under {names} differ from the first."
    )


def _open(book: Book, under: Judged, wanted: int) -> str:
    more = f"{wanted} runs" if wanted < 60 else "more than 60 runs"
    most = chance.bound(len(under.runs))
    return (
        f"{_counted(book)} It takes {more} that agree to exclude luck (--runs N makes more of each); with 95 % confidence at most "
        f"{most:.0%} of runs under {_named(under.names)} differ from the first."
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
