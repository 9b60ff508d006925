"""What page, Markdown and terminal show alike: rows of a label and a text, and tables."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, count

from reprocheck.language.letters import capital
from reprocheck.model import LossSeries, Run
from reprocheck.report import text
from reprocheck.report.tables import Table
from reprocheck.report.why import SIGN
from reprocheck.resume import model, sentences
from reprocheck.resume.confirm.search import LOOKED_INTO
from reprocheck.resume.request import GO_ON, WITHIN

MOST_LOSSES = 10
ROLES: Mapping[model.Role, str] = {
    "saves": "saves the checkpoint",
    "reads": "reads it",
    "loads": "loads it",
    "asks for": "asks for it under another name",
    "seeds": "seeds the generator",
    "puts back": "puts the generator back",
    "passes": "goes through the data",
    "counts": "counts",
    "makes": "makes it",
}
"""What happens on a line."""
SIGNS = {**SIGN, "not_compared": "?"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """`said` beside a label; `code` where it is to be pasted, in this language."""

    label: str
    said: str
    code: bool = False
    language: str = "python"


def facts(outcome: model.Outcome) -> tuple[Row, ...]:
    """Return the rows of one place, behind its verdict and its reason."""
    return tuple(_facts(outcome))


def _facts(outcome: model.Outcome) -> Iterator[Row]:
    checkpoint = outcome.place.checkpoint
    if checkpoint is None:
        return
    yield Row(label="checkpoint", said=sentences.checkpoint(checkpoint))
    if outcome.offset is None:
        return
    yield Row(label="read", said=sentences.read(outcome))
    if outcome.failed_at:
        yield Row(label="failed", said=f"at {outcome.failed_at}")
    yield from _why(outcome)


def _why(outcome: model.Outcome) -> Iterator[Row]:
    explained, confirmation = outcome.explained, outcome.confirmation
    first, causes = explained.first, outcome.causes
    if first is not None:
        where = text.joined(" on ", first.name, _ranks_of(first, explained))
        yield Row(label="where", said=text.joined(": ", where, first.detail or first.place))
    if confirmation is not None:
        yield Row(label="put back", said=confirmation.sentence)
    told = {first.detail} if first is not None else set()
    for mechanism in causes:
        yield Row(label="cause", said=f"{mechanism.code} {mechanism.title}")
        for said in mechanism.evidence:
            if said not in told:
                yield Row(label="", said=said)
        told.update(mechanism.evidence)
        for mark in mechanism.marks:
            text_of = f"  {mark.source.text}" if mark.source.text else ""
            yield Row(label="line", said=f"{mark.source.at} {ROLES[mark.role]}{text_of}")
    yield from _fixes(outcome)


def _fixes(outcome: model.Outcome) -> Iterator[Row]:
    """Yield the patch that was tried; of several causes their own fixes, too."""
    if outcome.repair is not None:
        yield Row(label="tried", said=outcome.repair.sentence)
    if outcome.repair is not None and outcome.repair.patch:
        patch = text.printable(outcome.repair.patch).rstrip("\n")
        yield Row(label="patch", said=patch, code=True, language="diff")
        if len(outcome.causes) == 1:
            return
    for fix in dict.fromkeys(mechanism.fix for mechanism in outcome.causes):
        if fix:
            language = "diff" if "+++ b/" in fix else "python"
            yield Row(label="fix", said=fix, code="\n" in fix, language=language)


def _ranks_of(rung: model.StateRung, explained: model.Explained) -> str:
    """Return which of several ranks differ on a rung; "" where all do."""
    return sentences.on_ranks(rung.ranks, explained.ranks)


def losses(outcome: model.Outcome) -> Table:
    """Return the first losses of both sides, those around the first that differs among them."""
    many = len(outcome.ranks)
    compared = [pair for pair in pairs(outcome) if pair.shown]
    marked = frozenset(
        number for number, pair in enumerate(compared) if pair.continued != pair.resumed
    )
    return Table(
        title="Losses" if many < 2 else f"Losses of rank {outcome.rank} of {many} ranks",
        heads=("continued run", "resumed run", "loss, continued", "loss, resumed"),
        rows=tuple(pair.cells for pair in compared),
        numeric=frozenset({0, 1, 2, 3}),
        marked=marked,
    )


def reported(outcome: model.Outcome) -> Table:
    """Return what both runs report beside their losses: of each series the first values that
    differ, else the last ones.
    """
    shown = [series for series in outcome.reported if series.rank == outcome.rank]
    differ = [series.first_unequal is not None for series in shown]
    return Table(
        title="What both runs report beside their losses",
        heads=("series", "values", "continued run", "resumed run", "continued", "resumed"),
        rows=tuple(_reported(series, outcome.offset) for series in shown),
        numeric=frozenset({1, 2, 3, 4, 5}),
        marked=frozenset(compress(count(), differ)),
    )


def _reported(series: model.Reported, offset: model.Offset | None) -> tuple[str, ...]:
    assert offset is not None
    pair = series.first_unequal or series.pairs[-1]
    return (
        f"{series.by or 'script'}:{series.name}",
        str(len(series.pairs)),
        str(offset.continued(pair.iteration)),
        str(pair.iteration),
        text.loss(pair.continued, "float64"),
        text.loss(pair.resumed, "float64"),
    )


def rungs(explained: model.Explained) -> Table:
    """Return the ladder across the gap."""
    return Table(
        title="The state after the checkpoint, and what the resumed run starts from",
        heads=("rung", "status", "where", "what"),
        rows=tuple(
            (
                rung.name,
                rung.status.replace("_", " "),
                text.joined(": ", _ranks_of(rung, explained), rung.place),
                rung.detail,
            )
            for rung in explained.rungs
        ),
        marked=frozenset(
            number for number, rung in enumerate(explained.rungs) if rung.status == "differs"
        ),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """The losses of one iteration and one rank on both sides; None where a side has none."""

    iteration: int
    rank: int
    offset: model.Offset
    continued: float | None
    resumed: float | None
    shown: bool = True

    @property
    def cells(self) -> tuple[str, ...]:
        """A row of the table."""
        return (
            str(self.offset.continued(self.iteration)),
            str(self.iteration),
            text.loss(self.continued, "float64"),
            text.loss(self.resumed, "float64"),
        )


def pairs(outcome: model.Outcome) -> list[Pair]:
    """Return the losses of both sides, iteration by iteration, of the rank that a report shows."""
    return pairs_of(outcome, outcome.rank)


def pairs_of(outcome: model.Outcome, rank: int) -> list[Pair]:
    """Return the losses of both sides of one rank."""
    continued, resumed, offset = outcome.continued, outcome.resumed, outcome.offset
    if continued is None or resumed is None or offset is None:
        return []
    one, other = _series(continued, rank), _series(resumed, rank)
    longest = max(len(one), len(other))
    return [
        Pair(
            iteration=iteration,
            rank=rank,
            offset=offset,
            continued=_sum(one, iteration),
            resumed=_sum(other, iteration),
            shown=iteration <= MOST_LOSSES,
        )
        for iteration in range(1, longest + 1)
    ]


def before(outcome: model.Outcome) -> list[Pair]:
    """Return the losses of the continued run up to the checkpoint: the resumed run has none of
    them.
    """
    if outcome.before is None or outcome.offset is None:
        return []
    rank, k = outcome.rank, outcome.offset.k
    series = _series(outcome.before, rank)
    return [
        Pair(
            iteration=number - k,
            rank=rank,
            offset=outcome.offset,
            continued=_sum(series, number),
            resumed=None,
        )
        for number in range(1, len(series) + 1)
    ]


def _series(run: Run, rank: int) -> LossSeries:
    found = run.by_rank.get(rank)
    return found.losses if found is not None else LossSeries()


def _sum(series: LossSeries, iteration: int) -> float | None:
    """Return an iteration's loss: the sum of its list; None behind the last."""
    if iteration > len(series):
        return None
    values: Sequence[float] = series.losses(iteration)
    return float(sum(values))


def next_command(check: model.ResumeCheck) -> str:
    """Return the command that says more: the same check with the option that the script has to be
    given, or one that confirms what was lost; "" where there is none.
    """
    decisive = check.decisive
    if decisive.option is not None:
        return command(check, resume_with=decisive.option.words)
    can_help = decisive.verdict in LOOKED_INTO and decisive.explained.other_ranks is None
    if check.asked.explain or check.asked.interrupt or not can_help:
        return ""
    return command(check).replace(" resume ", " explain --resume ", 1)


def command(check: model.ResumeCheck, resume_with: str = "") -> str:
    """Return the command as one would type it; `resume_with`: with other words added."""
    asked = check.asked
    options = []
    for name in asked.at:
        options += ["--at", name]
    if resume_with or asked.resume_with:
        options += ["--resume-with", resume_with or asked.resume_with]
    if asked.ranks:
        options += ["--ranks", str(asked.ranks)]
    if asked.interrupt:
        options += ["--interrupt", asked.interrupt]
    if asked.explain:
        options += ["--explain"]
    if asked.pattern:
        options += ["--checkpoint", asked.pattern]
    for name, number, usual in (("--steps", asked.within, WITHIN), ("--go-on", asked.go_on, GO_ON)):
        if number != usual:
            options += [name, str(number)]
    words = ["reprocheck", "resume", *options, *check.record.entry_point.words]
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """Quote a word for a shell: in double quotes where it holds single ones, and nothing that means
    more between double ones.
    """
    if "'" in word and not set(word) & set('"\\$`!'):
        return f'"{word}"'
    return shlex.quote(word)


def lines(check: model.ResumeCheck) -> Iterator[str]:
    """Yield the verdict and what follows from it, as plain lines."""
    for outcome in check.outcomes:
        yield f"{outcome.place.name}: {outcome.title}: {sentence(outcome.reason)}"
        for row in facts(outcome):
            yield f"  {row.label:<10}  {row.said}"


def sentence(reason: str) -> str:
    """Return a reason as a sentence."""
    return f"{capital(reason)}." if reason else ""
