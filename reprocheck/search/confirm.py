"""What the search in a report folder came to: which runs it needs next, the smallest set, the
confirmed cause and the fix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from reprocheck import rules
from reprocheck.causes import likely
from reprocheck.causes.device import device_of
from reprocheck.causes.evidence import VAGUE
from reprocheck.causes.frameworks import of_place
from reprocheck.causes.scanned import located
from reprocheck.causes.started import is_what_differs
from reprocheck.causes.usercode import UserCode
from reprocheck.ladder import words
from reprocheck.model import Cause, Check, Run, Search, Tried, Verdict
from reprocheck.model.letters import capital, small
from reprocheck.search import chance as chance
from reprocheck.search import order
from reprocheck.search.arms import Book, Judged, within_tolerance_only
from reprocheck.search.confirmed import confirmed, fixes
from reprocheck.search.cost import cost
from reprocheck.search.noise import given, remaining
from reprocheck.search.place import acted_at
from reprocheck.search.sets import PAIR, Answer, Candidates, Found, Question, Unanswered, find

Item = TypeVar("Item")

PATCH = "fix.patch"
"""In the report folder, under `arms`: the patch of the user's source that was found."""
NOT_TAKEN = "no process of a run took its text: the program reads that file in a way of its own"
"""Why a patch was not tried."""
AS_IS, AS_IS_UNSPECIFIC, AS_IS_INTERMITTENT = 4, 6, (6, 8)
"""Runs as they are that are wanted: two pairs, three where the ladder does not point at what is
confirmed, more where runs agree.
"""
SHOWN, FITTING, UNSPECIFIC = 0.1, 0.05, 0.02
"""The risk of luck that is taken: where the ladder shows a cause that the set removes, where a line
of the user's fits one, elsewhere.
"""
MOST_NAMED, MOST_SHOWN = 4, 3
"""Controls that are all named in a sentence; of more so many are."""
MOST_RUNS = 8
"""Runs an arm where the difference is intermittent, unless the check was made with more."""
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

    The check is one with its ladder and with the causes as the ladder shows them; its record holds
    the arms made so far.
    """
    try:
        conducted(check, folder, Book(check, folder))
    except Unanswered as missing:
        return missing.question
    return None


def decided(check: Check, folder: Path, names: Sequence[str]) -> bool:
    """Whether the runs under controls that are recorded by now differ, or fail: more of them can
    say nothing else.
    """
    under = Book(check, folder).of(names)
    return under is not None and (under.agrees is False or under.failed is not None)


def searched(check: Check, folder: Path) -> Result | None:
    """What the search in `folder` has come to by now; None where none was made, unless none is
    needed.
    """
    if not check.record.arms and not is_what_differs(check, folder):
        return None
    book = Book(check, folder)
    try:
        found = conducted(check, folder, book)
    except Unanswered as missing:
        said = "The search was broken off before it had come to an end."
        return Result(
            search=Search(
                **_account(book), sentence=said, confidence=_next(missing.question), broken_off=True
            ),
            causes=(*check.causes, *_refusals(book)),
        )
    return _result(check, folder, book, found)


def _next(question: Question) -> str:
    said = f"{_named(question.controls)} ({question.why})" if question.controls else question.why
    return f"Next to try: {said}."


def patch_offered(check: Check, folder: Path) -> bool:
    """Whether the patch is shown: the runs with it agree, or no run could try it."""
    tried = Book(check, folder).of((), patched=True)
    return tried is not None and (tried.untried or tried.agrees is True)


def runs_with_patch(check: Check, folder: Path) -> int:
    """How many runs must agree with the patch of the first cause to confirm it, where the search
    has ended and no control confirms one.

    0 where the patch is not tried: the cause has no line, or runs as they are agree now and then,
    which a patch must not be praised for.
    """
    search = check.search
    if search is None or search.smallest or search.broken_off or is_what_differs(check, folder):
        return 0
    seen = Book(check, folder).sample
    if seen.intermittent or suspect(check) is None:
        return 0
    runs = chance.needed(seen, FITTING)
    return runs if runs <= MOST_RUNS else 0


def suspect(check: Check) -> Cause | None:
    """The first cause, where it says why the runs differ, and on which line."""
    return next(
        (cause for cause in check.causes[:1] if cause.source and cause.code not in VAGUE), None
    )


def conducted(
    check: Check, folder: Path, book: Book, candidates: Candidates | None = None
) -> Found:
    """The search as `book` answers it.

    Raises Unanswered. None is needed where what the start gives is seen to be what differs.
    """
    if is_what_differs(check, folder):
        return Found()
    _as_is(book, AS_IS, "to see how steady the difference is")
    seen, most = book.sample, max(len(check.runs), MOST_RUNS)
    least = chance.needed(seen, FITTING if seen.intermittent else SHOWN)
    for target in AS_IS_INTERMITTENT:
        if seen.intermittent and least > AS_IS:
            _as_is(book, max(len(check.runs), target), "since the difference is intermittent")

    def needed(names: tuple[str, ...], answer: Answer) -> int:
        if not seen.intermittent and any(_risk(check, name) == UNSPECIFIC for name in names):
            _as_is(book, AS_IS_UNSPECIFIC, "to exclude that runs agree by chance")
        return _wanted(check, book, names, answer.exact)

    runs = min(least, most) if seen.intermittent else PAIR
    among = candidates or order.candidates(check, folder)
    return find(among, book.ask, needed, runs=runs, most=most, whole=least <= most)


def _as_is(book: Book, target: int, aim: str) -> None:
    """Raises Unanswered where fewer than `target` runs were made as they are."""
    own = book.of(())
    made, missing = len(own.runs) if own else 0, target - book.sample.runs
    if missing > 0 and made < target:
        raise Unanswered(
            Question(controls=(), runs=made + max(missing, PAIR), why=f"as it is once more, {aim}")
        )


def _wanted(check: Check, book: Book, names: Sequence[str], exact: bool) -> int:
    """How many runs under a set must agree."""
    seen = book.sample
    risk = min(_risk(check, name) for name in names)
    return chance.needed(seen, min(risk, FITTING) if seen.intermittent else risk) + (
        0 if exact else INEXACT
    )


def _risk(check: Check, name: str) -> float:
    """The less the runs and the source speak for a control, the less luck is allowed."""
    removed = [
        one for one in check.causes if one.code not in VAGUE and likely.confirms(name, one.code)
    ]
    if any(cause.confidence == "observed" for cause in removed):
        return SHOWN
    on_a_line = any(cause.source for cause in removed) or order.found_to_run(check, name)
    return FITTING if on_a_line else UNSPECIFIC


# --------------------------------------------------------------------------------------- the result


def _result(check: Check, folder: Path, book: Book, found: Found) -> Result:
    refused = _refusals(book)
    under = book.of(found.smallest) if found.smallest else None
    if is_what_differs(check, folder):
        search = Search(**_account(book), sentence=given(check), confidence=_counted(book))
        return Result(search=search, causes=(*check.causes, *refused))
    if under is None or not found.smallest:
        proved = _proved_by_patch(check, folder, book)
        if proved is not None:
            return replace(proved, causes=(*proved.causes, *refused))
        said = f"{remaining(check, found, book)}{_patch_in_vain(book)}"
        return Result(
            search=Search(**_account(book), sentence=said, confidence=_counted(book)),
            causes=(*check.causes, *refused),
        )
    wanted = _wanted(check, book, found.smallest, under.exact)
    if len(under.runs) < wanted:
        said = (
            f"{capital(_named(found.smallest))} may remove the difference, but that is not shown:"
            f" {_agreeing(under)}, which can be luck."
        )
        search = Search(**_account(book), sentence=said, confidence=_open(book, under, wanted))
        return Result(search=search, causes=(*check.causes, *refused))
    frameworks = of_place(check, UserCode(check, folder))
    causes = confirmed(
        check, found.smallest, _evidence(book, under), frameworks, acted_at(check, folder, under)
    )
    causes = located(check, causes, found.smallest)
    fix = "\n\n".join(dict.fromkeys(fixes(device_of(check), frameworks, causes, found.smallest)))
    patch = _read(folder / "arms" / PATCH)
    ratio, of = cost(check, book, under)
    further = _further(check, under)
    search = Search(
        **_account(book, under),
        smallest=found.smallest,
        sentence=_sentence(found.smallest, under, causes, further),
        confidence=_confidence(book, under),
        fix=fix,
        patch=patch,
        further=further,
        cost=ratio,
        cost_of=of,
    )
    return Result(search=search, causes=(*causes, *refused), confirmed=True)


def _proved_by_patch(check: Check, folder: Path, book: Book) -> Result | None:
    """The first cause as confirmed, where no control confirms one and enough runs with its patch
    agree in every bit.
    """
    cause, tried = suspect(check), book.of((), patched=True)
    if (
        cause is None
        or cause.source is None
        or tried is None
        or tried.untried
        or tried.agrees is not True
        or not tried.exact
    ):
        return None
    runs = len(tried.runs)
    if book.sample.intermittent or runs < chance.needed(book.sample, FITTING):
        return None
    line = f"{cause.source.file}:{cause.source.line}"
    agreeing = f"{runs} runs with it, without any control, agree {_how(tried)}"
    where = ", ".join(f"arms/{name}" for name in tried.arms)
    evidence = (
        f"{capital(agreeing.replace('with it', f'with the patch of {line}'))} ({where});"
        f" {small(_counted(book))}"
    )
    lucky = chance.luck(book.sample, runs)
    proof = f"No control removes the difference; the patch of {line} does: {agreeing}."
    search = Search(
        **_account(book),
        sentence=f"{proof} That confirms {cause.code}, {small(cause.title)}.",
        confidence=(
            f"{_counted(book)} Were the patch without effect, {runs} runs would agree so in at most"
            f" {lucky:.1%} of such searches."
        ),
        fix=cause.fix,
        patch=_read(folder / "arms" / PATCH),
    )
    confirmed = replace(cause, confidence="confirmed", evidence=(evidence, *cause.evidence))
    return Result(search=search, causes=(confirmed, *check.causes[1:]), confirmed=True)


def _patch_in_vain(book: Book) -> str:
    tried = book.of((), patched=True)
    if tried is None or tried.untried or tried.agrees is not False:
        return ""
    return " Runs with a patch of that line differ, too: it is not the only cause, or none."


def _account(book: Book, under: Judged | None = None) -> dict[str, Any]:
    """What was tried, and what the controls did: overrides of all arms, touches under the smallest
    set.
    """
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
    as_is = Tried(
        controls=(),
        runs=len(check.runs),
        agrees=_by_the_criterion(check.verdict),
        bitwise=check.verdict.bitwise.equal,
        note="as it is",
        diverges_from=_diverges_from(check.verdict),
    )
    return (as_is, *(_row(judged) for judged in book.judged))


def _by_the_criterion(verdict: Verdict) -> bool | None:
    """Whether runs agree by it; None where it could not decide."""
    return (
        verdict.exit_code == 0 if verdict.verdict in ("reproducible", "not_reproducible") else None
    )


def _diverges_from(verdict: Verdict) -> int | None:
    return verdict.first_divergence.iteration if verdict.first_divergence else None


def _row(judged: Judged) -> Tried:
    if judged.untried:
        return Tried(
            controls=judged.names,
            runs=len(judged.runs),
            agrees=None,
            bitwise=None,
            patched=True,
            note=NOT_TAKEN,
        )
    note = judged.why
    if judged.refusal:
        where = (
            f" at {judged.refusal.source.file}:{judged.refusal.source.line}"
            if judged.refusal.source
            else ""
        )
        note = (
            f"the script failed: {judged.refusal.operator or judged.refusal.message}{where} has no"
            " deterministic implementation"
        )
    elif judged.failed:
        note = f"{_ended_badly(judged.failed)}; {note}"
    elif within_tolerance_only(judged):
        note = f"{note}; within the tolerance, and too far apart for rounding"
    elif judged.agrees and judged.names and not judged.acted:
        note = f"{note}; nothing shows what it acted on"
    return Tried(
        controls=judged.names,
        runs=len(judged.runs),
        agrees=_by_the_criterion(judged.verdict),
        bitwise=judged.verdict.bitwise.equal,
        patched=judged.patched,
        note=note,
        another_from=judged.later,
        diverges_from=_diverges_from(judged.verdict),
    )


def _ended_badly(run: Run) -> str:
    """How a run ended, with what the script said last."""
    if run.record.ended == "timed_out":
        return f"run {run.number} took too long"
    said = run.stderr_tail.strip().rpartition("\n")[2]
    return f"run {run.number} failed ({said})" if said else f"run {run.number} failed"


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


# -------------------------------------------------------------------------------------------- words


def _named(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > MOST_NAMED:
        return f"the {len(quoted)} controls {words.listed(quoted, MOST_SHOWN)}"
    return words.listed(quoted, len(quoted)) or "no control"


def _sentence(
    smallest: Sequence[str], under: Judged, causes: Sequence[Cause], further: Sequence[str]
) -> str:
    verb = "removes" if len(smallest) == 1 else "together remove"
    several = "" if len(smallest) == 1 else " None of them can be left out."
    named = [f"{one.code}, {small(one.title)}" for one in causes if one.confidence == "confirmed"]
    said = (
        f"{_named(smallest)} {verb} the difference: {_agreeing(under)}.{several} That confirms"
        f" {'; and '.join(named)}."
    )
    if under.later is None:
        return said
    command = f"`reprocheck explain {' '.join(further)}`"
    return (
        f"{said} Another difference remains, from iteration {under.later} on: {command} with the"
        " same script looks for it."
    )


def _further(check: Check, under: Judged) -> tuple[str, ...]:
    """Options of `explain` that look for another difference, where one remains: all that is known
    is kept out of its way.
    """
    if under.later is None:
        return ()
    options = [
        option for name in (*check.record.controls, *under.names) for option in ("--control", name)
    ]
    within_tolerance = under.verdict.first_divergence is None
    return (*options, *(("--fail-on", "bitwise") if within_tolerance else ()))


def _agreeing(under: Judged) -> str:
    return (
        f"{len(under.runs)} runs under {'it' if len(under.names) == 1 else 'them'} agree"
        f" {_how(under)}"
    )


def _how(under: Judged) -> str:
    if under.later is not None:
        return f"in every bit up to iteration {under.later - 1}"
    return "in every bit" if under.exact else "but for rounding"


def _evidence(book: Book, under: Judged) -> str:
    where = ", ".join(f"arms/{name}" for name in under.arms)
    counted = _counted(book)
    return (
        f"Under {_named(under.names)} {len(under.runs)} runs agree {_how(under)} ({where});"
        f" {small(counted)}"
    )


def _counted(book: Book) -> str:
    """`All 4 runs as they are differ from each other.`"""
    seen = book.sample
    blind = (
        f" ({seen.blind} of them in a loss that is not finite, by which no runs agree)"
        if seen.blind > 1
        else ""
    )
    if not seen.intermittent:
        return (
            f"All {seen.runs} runs as they are differ from each other{blind}."
            if seen.runs > PAIR
            else "The two runs as they are differ."
        )
    same = seen.runs - seen.odd
    return (
        f"Of {seen.runs} runs as they are {same} agree with each other and {seen.odd} do"
        f" not{blind}: the difference is intermittent."
    )


def _confidence(book: Book, under: Judged) -> str:
    runs = len(under.runs)
    lucky, most = chance.luck(book.sample, runs), chance.bound(runs)
    names = _named(under.names)
    return (
        f"{_counted(book)} Were {names} without effect, {runs} runs would agree so in at most"
        f" {lucky:.1%} of such searches. With 95 % confidence at most {most:.0%} of runs under"
        f" {names} differ from the first."
    )


def _open(book: Book, under: Judged, wanted: int) -> str:
    more = f"{wanted} runs" if wanted < 60 else "more than 60 runs"
    most = chance.bound(len(under.runs))
    return (
        f"{_counted(book)} It takes {more} that agree to exclude luck (--runs N makes more of"
        f" each); with 95 % confidence at most {most:.0%} of runs under {_named(under.names)}"
        " differ from the first."
    )


def _read(path: Path) -> str:
    """The text of a file with its own line ends: a patch of lines that end as on Windows has
    those.
    """
    try:
        return path.read_bytes().decode()
    except OSError:
        return ""
