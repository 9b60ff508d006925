"""What page, Markdown and terminal show alike: blocks of causes, rows and tables."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, count
from typing import Literal

from reprocheck.language.letters import capital
from reprocheck.model import LossSeries, Run
from reprocheck.report import text
from reprocheck.report.blocks import (
    Block,
    CausePanel,
    Fact,
    Facts,
    Repair,
    RungRow,
    Source,
    Table,
    Text,
)
from reprocheck.report.label_rows import label_rows
from reprocheck.report.ladder import SIGN
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
CONFIRMED = "putting back what was lost makes the losses agree"
OBSERVED = "the recorded runs show it"


def cause_blocks(outcome: model.Outcome) -> Iterator[Block]:
    """Yield why a resume is not exact: where, each cause, and what to do."""
    explained, causes = outcome.explained, outcome.causes
    confirmation = outcome.confirmation
    first = explained.first
    facts = []
    if first is not None:
        place = text.joined(" on ", first.name, _ranks_of(first, explained))
        facts.append(Fact("where", text.joined(": ", place, first.detail or first.place)))
    if confirmation is not None:
        facts.append(Fact("put back", confirmation.sentence))
    if outcome.failed_at:
        facts.append(Fact("failed", f"at {outcome.failed_at}"))
    if facts:
        yield Facts(facts=tuple(facts))
    repair = _repair(outcome)
    shown = {first.detail} if first is not None else set()
    for number, cause in enumerate(causes):
        own_repair = repair
        if len(causes) > 1 or repair is None:
            own_repair = _fix(cause)
        yield _panel(cause, own_repair, outcome, shown, leads=number == 0)
        shown.update(cause.evidence)
    if repair is not None and len(causes) != 1:
        yield repair
    if outcome.repair is not None and repair is None:
        yield Text(outcome.repair.sentence)


def _panel(
    cause: model.Mechanism,
    repair: Repair | None,
    outcome: model.Outcome,
    shown: Collection[str],
    *,
    leads: bool,
) -> CausePanel:
    """Return a cause as a block, without the evidence that was shown before."""
    confirmed = outcome.confirmation is not None and outcome.confirmation.confirmed
    first = outcome.explained.first
    return CausePanel(
        heading="Cause",
        code=cause.code,
        title=cause.title,
        confidence="confirmed" if confirmed else "observed",
        badge="confirmed" if confirmed else "observed",
        means=CONFIRMED if confirmed else OBSERVED,
        evidence=tuple(sentence for sentence in cause.evidence if sentence not in shown),
        sources=tuple(Source(mark.source, ROLES[mark.role]) for mark in cause.marks),
        repair=repair,
        rung=first.name if leads and first is not None else "",
    )


def _repair(outcome: model.Outcome) -> Repair | None:
    """Return the patch that was tried and helps; None where there is none."""
    if outcome.repair is None or not outcome.repair.patch:
        return None
    patch = text.printable(outcome.repair.patch).rstrip("\n")
    return Repair(kind="patch", text=patch, said=outcome.repair.sentence, language="diff")


def _fix(cause: model.Mechanism) -> Repair | None:
    """Return what a cause advises; None where it advises nothing."""
    if not cause.fix:
        return None
    language = "diff" if "+++ b/" in cause.fix else "python"
    kind: Literal["code", "words"] = "code" if "\n" in cause.fix else "words"
    return Repair(kind=kind, text=cause.fix, language=language)


def checkpoint_facts(outcome: model.Outcome) -> tuple[Fact, ...]:
    """Return which checkpoint was taken, and what the resumed run read of it."""
    checkpoint = outcome.place.checkpoint
    if checkpoint is None:
        return ()
    facts = [Fact("checkpoint", sentences.checkpoint(checkpoint))]
    if outcome.offset is not None:
        facts.append(Fact("read", sentences.read(outcome)))
    return tuple(facts)


def _ranks_of(rung: model.StateRung, explained: model.Explained) -> str:
    """Return which of several ranks differ on a rung; "" where all do."""
    return sentences.on_ranks(rung.ranks, explained.ranks)


def rung_rows(explained: model.Explained) -> tuple[RungRow, ...]:
    """Return a row for each rung of the ladder across the gap."""
    return tuple(
        RungRow(
            kind=rung.status.replace("_", "-"),
            rung=rung.name,
            name=rung.name,
            means="",
            status=rung.status.replace("_", " "),
            sign=SIGNS[rung.status],
            where=text.joined(": ", _ranks_of(rung, explained), rung.place),
            first=rung == explained.first,
            differs=rung.status == "differs",
            detail=rung.detail,
        )
        for rung in explained.rungs
    )


def losses(outcome: model.Outcome) -> Table:
    """Return the first losses of both sides, those around the first that differs among them."""
    many = len(outcome.ranks)
    compared = [pair for pair in pairs(outcome) if pair.shown]
    marked = frozenset(
        number for number, pair in enumerate(compared) if pair.continued != pair.resumed
    )
    return Table(
        title="The first losses"
        if many < 2
        else f"The first losses of rank {outcome.rank} of {many}",
        heads=("continued run", "resumed run", "loss, continued", "loss, resumed"),
        rows=tuple(pair.cells for pair in compared),
        numeric=frozenset({0, 1, 2, 3}),
        marked=marked,
    )


def reported(outcome: model.Outcome) -> Table:
    """Return what both runs report beside their losses.

    Of each series the first values that differ, else the last ones.
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
    """Return the ladder across the gap as a table: a page has the ladder of one place alone."""
    rows = rung_rows(explained)
    return Table(
        title="The state after the checkpoint, and what the resumed run starts from",
        heads=("rung", "status", "where", "what"),
        rows=tuple((row.name, row.status, row.where, row.detail) for row in rows),
        marked=frozenset(number for number, row in enumerate(rows) if row.differs),
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
    """Return the losses of the continued run up to the checkpoint, which the other lacks."""
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
    """Return the command that says more; "" where there is none.

    The same check with the option that the script has to be given, or one that confirms what was
    lost.
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
    """Quote a word for a shell.

    In double quotes where it holds single ones, and nothing that means more between double ones.
    """
    if "'" in word and not set(word) & set('"\\$`!'):
        return f'"{word}"'
    return shlex.quote(word)


def lines(check: model.ResumeCheck) -> Iterator[str]:
    """Yield the verdict and what follows from it, as plain lines."""
    for outcome in check.outcomes:
        yield f"{outcome.place.name}: {outcome.title}: {sentence(outcome.reason)}"
        for row in label_rows(terminal_blocks(outcome)):
            yield f"  {row.label:<10}  {row.text}"


def terminal_blocks(outcome: model.Outcome) -> Iterator[Block]:
    """Yield what stands behind the verdict of a place on the terminal."""
    facts = checkpoint_facts(outcome)
    if facts:
        yield Facts(facts=facts)
    yield from cause_blocks(outcome)


def sentence(reason: str) -> str:
    """Return a reason as a sentence."""
    return f"{capital(reason)}." if reason else ""
