"""The sentences of a check as a whole: what was recorded, changed and left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reprocheck.files.summary import summary
from reprocheck.language import count, sentences
from reprocheck.language.letters import capital
from reprocheck.language.ranks import named
from reprocheck.model import Check, is_elsewhere
from reprocheck.model.statements import check as statements
from reprocheck.model.statements.check import LeftByEarlier, ReadLeft, VisibleLeft
from reprocheck.wording.say import say

_MOST_READ = 5
"""Files that are named of those that runs read."""
OUTSIDE = "Every run sees what lies outside of the working directory, also with `--workdir copy`."
_KEPT_FROM = {False: "`--workdir copy` gives each run its own folder.", True: OUTSIDE}
"""How to keep later runs from files, by whether these lie elsewhere."""


@say.register
def read_left(left: ReadLeft) -> str:
    """Say that a later run read files that run 1 wrote, and how to prevent that."""
    sentence = (
        f"State left by run 1: a later run read {summary(left.paths, _MOST_READ)},"
        " written by run 1."
    )
    same = "Run 1 read the same from there." if left.alike else ""
    places = sorted(set(map(is_elsewhere, left.paths)))
    return sentences(sentence, same, *(_KEPT_FROM[place] for place in places))


@say.register
def visible_left(left: VisibleLeft) -> str:
    """Say that later runs could see files of run 1, and how to rule out that they read them."""
    return (
        "The runs after run 1 could see what was written while it ran:"
        f" {summary(left.paths)}. None was seen to read it, but not every read is seen:"
        f" {_what_rules_it_out(left)}"
    )


def _what_rules_it_out(left: VisibleLeft) -> str:
    elsewhere = set(map(is_elsewhere, left.paths))
    if elsewhere == {False}:
        return "`--workdir copy` rules it out."
    if False in elsewhere:
        return "`--workdir copy` rules it out for those in the working directory."
    if left.made:
        return "remove these files before each run to rule it out."
    return "look in the script for what reads them; `--workdir copy` does not copy them."


@say.register
def left_by_earlier(left: LeftByEarlier) -> str:
    """Say that all runs read what the runs of an earlier check had left."""
    also = ""
    if left.others:
        also = f", and what else such checks left ({summary(left.others)})"
    return (
        f"Each run reads {summary(left.paths, _MOST_READ)}, which the runs of an earlier"
        f" check made ({left.when:%Y-%m-%d %H:%M} UTC), so this check does not cover a"
        f" start without it. Remove it{also}, and check again."
    )


_UNDETERMINED: Mapping[str, str] = {
    "cause": "The cause of the difference could not be determined: {what}",
    "beside the losses": "What differs beside the losses could not be determined: {what}",
    "source": "The source could not be scanned: {what}",
}


def told(check: Check) -> Check:
    """Return the check with its coverage, and with what was changed to observe it."""
    changed = (*check.record.changed_to_observe, *map(say, check.changes))
    return replace(
        check,
        state_caveat=say(check.state_caution or ""),
        changed_to_observe=tuple(dict.fromkeys(changed)),
        coverage=tuple(dict.fromkeys(map(say, check.unrecorded))),
    )


@say.register
def nothing_of_run(of: statements.NothingOfRun) -> str:
    """Say that a run recorded nothing, and why that may be."""
    if not of.processes:
        return (
            f"Run {of.run}: no process loaded the recorder. An interpreter started with -I,"
            " -E or -S ignores PYTHONPATH, a script can reset it, and a program that is not"
            " Python has no hooks."
        )
    processes = count(of.processes, "process", "processes")
    return f"Run {of.run}: {processes} loaded the recorder, and none recorded a loss or an update."


@say.register
def each_rank(of: statements.EachRank) -> str:
    """Say a statement that holds for each of these ranks."""
    each = ", each" if len(of.ranks) > 1 else ""
    return f"{capital(named(of.ranks))}{each}: {say(of.statement)}"


@say.register
def losses_recorded(losses: statements.LossesRecorded) -> str:
    """Say how much was recorded of the losses."""
    frameworks = ", ".join(map(" ".join, losses.frameworks)) or "none"
    return (
        f"{losses.values} losses in {losses.iterations} iterations; frameworks imported:"
        f" {frameworks}."
    )


@say.register
def not_deep(level: statements.NotDeep) -> str:
    """Say how far level `module` was recorded, and why no further."""
    because = say(level.because) or "of this training, level `auto` records the losses alone"
    if not level.iterations:
        return f"level `module` was not recorded: {because}."
    iterations = count(level.iterations, "iteration")
    return f"level `module` was left after {iterations}: {because}."


@say.register
def no_fingerprints(_: statements.NoFingerprints) -> str:
    """Say what is unknown without the fingerprints of weights."""
    return "weights were not fingerprinted, so whether the first update changed them is not known."


@say.register
def cut_trace(trace: statements.CutTrace) -> str:
    """Say that the end of a trace file is missing."""
    return (
        f"Run {trace.run}, {named(trace.ranks)}: the last line of the trace is incomplete; the"
        " lines before it were kept."
    )


@say.register
def values_masked(masked: statements.ValuesMasked) -> str:
    """Say how many values were masked before anything was written."""
    return (
        f"Values that look like secrets or addresses were masked: {masked.in_record} in"
        f" the command and the settings, {masked.in_logs} in the logs. Tracebacks and"
        " kept source go through the same patterns."
    )


@say.register
def pair_ended(pair: statements.PairEnded) -> str:
    """Say how the runs at a deeper level of recording ended, if not as planned."""
    if not pair.ended:
        return f"The two runs at level {pair.level} ended early, so they were not compared."
    ending = "was ended by the timeout"
    if pair.ended == "failed":
        ending = f"failed with exit status {pair.exit_status}"
    return (
        f"Run {pair.run} at level {pair.level} {ending}; what it recorded until then was compared."
    )


@say.register
def from_the_start(_: statements.FromTheStart) -> str:
    """Say why operators were recorded from the start."""
    return (
        "Level op was recorded from the start: this training cannot be left alone until"
        " the iteration before the difference."
    )


@say.register
def undetermined(part: statements.Undetermined) -> str:
    """Say which part of the explanation an error ended."""
    return _UNDETERMINED[part.what].format(what=part.error)


@say.register
def others_differ(others: statements.OthersDiffer) -> str:
    """Say what else differs although the losses are equal."""
    return f"All losses are equal, and not all that the runs made beside them. {say(others.first)}"


@say.register
def printed_differs(printed: statements.PrintedDiffers) -> str:
    """Say from which line on the runs printed something else."""
    return (
        f"What the runs printed differs from line {printed.line:,} of `stdout.log` on,"
        " and no recorded value does; clocks, speeds, paths and numbers of processes"
        " are not compared."
    )


@say.register
def left_alive(run: statements.LeftAlive) -> str:
    """Say that processes of a run were killed."""
    processes = count(run.processes, "process", "processes")
    return f"Run {run.run} left {processes} alive at its end, which reprocheck killed."


@say.register
def stop_reached(stop: statements.StopReached) -> str:
    """Say that a run was ended early, or was not."""
    who = f"run {stop.run}" if stop.run else "each run"
    if stop.ended:
        return (
            f"Early stop: {who} was ended after iteration {stop.last} (`--steps all` records"
            " the whole training)."
        )
    return (
        f"Not ended early: of each training in {who} iterations 1 to {stop.last} were recorded, and"
        " its processes ran to their own end (`--steps all` records them whole)."
    )
