"""The sentences of a check as a whole: what was recorded, what was not, and what was changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reprocheck.language import count, mark, tr
from reprocheck.language.letters import capital
from reprocheck.language.ranks import named
from reprocheck.model import Check
from reprocheck.model.statements.check import (
    CutTrace,
    EachRank,
    FromTheStart,
    LeftAlive,
    LossesRecorded,
    NoFingerprints,
    NotDeep,
    NothingOfRun,
    OthersDiffer,
    PairEnded,
    PrintedDiffers,
    StopReached,
    Undetermined,
    ValuesMasked,
)
from reprocheck.wording import left_files as left_files, record_sentences
from reprocheck.wording.say import say

_UNDETERMINED: Mapping[str, str] = {
    "cause": mark("The cause of the difference could not be determined: {what}"),
    "beside the losses": mark("What differs beside the losses could not be determined: {what}"),
    "source": mark("The source could not be scanned: {what}"),
}


def told(check: Check) -> Check:
    """Return the check with its coverage, and with what was changed to observe it."""
    record = record_sentences.told(check.record)
    changed = (*record.changed_to_observe, *map(say, check.changes))
    return replace(
        check,
        record=record,
        state_caveat=say(check.state_caution or ""),
        changed_to_observe=tuple(dict.fromkeys(changed)),
        coverage=tuple(dict.fromkeys(map(say, check.unrecorded))),
    )


@say.register
def nothing_of_run(of: NothingOfRun) -> str:
    """Say that a run recorded nothing, and why that may be."""
    if not of.processes:
        return tr(
            "Run {number}: no process loaded the recorder. An interpreter started with -I,"
            " -E or -S ignores PYTHONPATH, a script can reset it, and a program that is not"
            " Python has no hooks.",
            number=of.run,
        )
    return tr(
        "Run {number}: {processes} loaded the recorder, and none recorded a loss or an update.",
        number=of.run,
        processes=count(of.processes, "process", "processes"),
    )


@say.register
def each_rank(of: EachRank) -> str:
    """Say what holds of each of these ranks."""
    return tr(
        "{ranks}{each}: {sentence}",
        ranks=capital(named(of.ranks)),
        each=tr(", each") if len(of.ranks) > 1 else "",
        sentence=say(of.statement),
    )


@say.register
def losses_recorded(losses: LossesRecorded) -> str:
    """Say how much was recorded of the losses."""
    return tr(
        "{values} losses in {losses} iterations; frameworks imported: {frameworks}.",
        values=losses.values,
        losses=losses.iterations,
        frameworks=", ".join(map(" ".join, losses.frameworks)) or tr("none"),
    )


@say.register
def not_deep(level: NotDeep) -> str:
    """Say how far level `module` was recorded, and why no further."""
    because = say(level.because) or mark("of this training, level `auto` records the losses alone")
    if not level.iterations:
        return tr("level `module` was not recorded: {why}.", why=tr(because))
    return tr(
        "level `module` was left after {iterations}: {why}.",
        iterations=count(level.iterations, "iteration"),
        why=tr(because),
    )


@say.register
def no_fingerprints(_: NoFingerprints) -> str:
    """Say what is not known without the fingerprints of weights."""
    return tr(
        "weights were not fingerprinted, so whether the first update changed them is not known."
    )


@say.register
def cut_trace(trace: CutTrace) -> str:
    """Say that the end of a trace is missing."""
    return tr(
        "Run {number}, {ranks}: {sentence}; the lines before it were kept.",
        number=trace.run,
        ranks=named(trace.ranks),
        sentence=tr("the last line of the trace is incomplete"),
    )


@say.register
def values_masked(masked: ValuesMasked) -> str:
    """Say how many values were masked before anything was written."""
    return tr(
        "Values that look like secrets or addresses were masked: {masked} in the"
        " command and the settings, {in_logs} in the logs. Tracebacks and kept source go"
        " through the same patterns.",
        masked=masked.in_record,
        in_logs=masked.in_logs,
    )


@say.register
def pair_ended(pair: PairEnded) -> str:
    """Say how the runs at a deeper level ended, where that is not as they should."""
    name = tr("level {level}", level=pair.level)
    if not pair.ended:
        return tr("The two runs at {name} ended early, so they were not compared.", name=name)
    ending = tr("was ended by the timeout")
    if pair.ended == "failed":
        ending = tr("failed with exit status {exit_status}", exit_status=pair.exit_status)
    return tr(
        "Run {number} at {name} {ending}; what it recorded until then was compared.",
        number=pair.run,
        name=name,
        ending=ending,
    )


@say.register
def from_the_start(_: FromTheStart) -> str:
    """Say why operators were recorded from the start."""
    return tr(
        "Level op was recorded from the start: this training cannot be left alone until the"
        " iteration before the difference."
    )


@say.register
def undetermined(part: Undetermined) -> str:
    """Say which part of the explanation an error ended."""
    return tr(_UNDETERMINED[part.what], what=part.error)


@say.register
def others_differ(others: OthersDiffer) -> str:
    """Say what differs beside losses that are equal."""
    return tr(
        "All losses are equal, and not all that the runs made beside them. {sentence}",
        sentence=say(others.first),
    )


@say.register
def printed_differs(printed: PrintedDiffers) -> str:
    """Say from which line on the runs printed something else."""
    return tr(
        "What the runs printed differs from line {number:,} of `stdout.log` on, and no"
        " recorded value does; clocks, speeds, paths and numbers of processes are not"
        " compared.",
        number=printed.line,
    )


@say.register
def left_alive(run: LeftAlive) -> str:
    """Say that processes of a run were killed."""
    return tr(
        "Run {number} left {processes} alive at its end, which reprocheck killed.",
        number=run.run,
        processes=count(run.processes, "process", "processes"),
    )


@say.register
def stop_reached(stop: StopReached) -> str:
    """Say that a run was ended early, or was not."""
    who = tr("run {number}", number=stop.run) if stop.run else tr("each run")
    if stop.ended:
        return tr(
            "Early stop: {who} was ended after iteration {last} (`--steps all` records the"
            " whole training).",
            who=who,
            last=stop.last,
        )
    kept = tr(
        "of each training in {who} iterations 1 to {last} were recorded, and its processes"
        " ran to their own end",
        who=who,
        last=stop.last,
    )
    return tr("Not ended early: {kept} (`--steps all` records them whole).", kept=kept)
