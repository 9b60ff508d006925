"""How runs ended, and which of their ranks ended before the others or are behind."""

from __future__ import annotations

import signal

from reprocheck.language import count, form, joined, tr
from reprocheck.language.ranks import named
from reprocheck.model.statement import Statement
from reprocheck.model.statements import verdict as statements
from reprocheck.wording.say import in_english, say


@say.register
def runs_failed(failed: statements.RunsFailed) -> str:
    """Say how the runs ended, and what the checks say of the iterations before.

    The forward and the backward check.
    """
    endings = (
        tr("run {number} {ending}", number=number, ending=say(ending))
        for number, ending in zip(failed.runs, failed.endings, strict=True)
    )
    ended = _all_alike(failed) or joined(tr(", "), endings)
    detail = behind(failed.lost)
    if not failed.checks_made:
        return tr("{said}, before both checks could be made", said=ended) + detail
    how_well = tr(" within the tolerance")
    if failed.equal:
        how_well = tr(", bit for bit")
    elif failed.leaves_in is not None:
        left = failed.leaves_in
        how_well = tr(
            " and the losses leave the tolerance in iteration {iteration}", iteration=left
        )
    passes = tr("{said}; until then both checks pass{how_well}", said=ended, how_well=how_well)
    return passes + detail


def _all_alike(failed: statements.RunsFailed) -> str:
    """Return `both runs ended …`, if all runs ended in the same way; else ""."""
    if not 1 < failed.of == len(failed.runs) or len(set(failed.endings)) > 1:
        return ""
    ending = _ending(failed.endings[0], runs=failed.of)
    if failed.of == 2:
        return tr("both runs {ending}", ending=ending)
    return tr("all {number} runs {ending}", number=failed.of, ending=ending)


def behind(lost: Statement | None) -> str:
    """Return the clause on ranks that were lost, in English; empty if there are none."""
    return f"; {in_english(lost)}" if lost else ""


@say.register
def run_ending(ending: statements.RunEnding) -> str:
    """Say how a run ended, such as `ended in iteration 5 with ValueError: …`."""
    return _ending(ending, runs=1)


def _ending(ending: statements.RunEnding, *, runs: int) -> str:
    reached = _reached(ending.iteration, unfinished=ending.unfinished)
    place = reached and " " + reached
    if ending.how == "timed out":
        return form(
            runs,
            "was stopped{place} by --timeout after {seconds:.0f} s",
            "were stopped{place} by --timeout after {seconds:.0f} s",
            place=place,
            seconds=ending.seconds,
        )
    if ending.how == "interrupted":
        return form(runs, "was interrupted{place}", "were interrupted{place}", place=place)
    if ending.how == "unknown":
        return tr("ended{place} in an unknown way", place=place)
    if ending.how == "signal":
        return form(
            runs,
            "was ended{place} by {signal}",
            "were ended{place} by {signal}",
            place=place,
            signal=_signal(ending.status),
        )
    how = ending.says
    if ending.how == "status":
        refusal = how and f" ({how})"
        how = f"exit status {ending.status}{refusal}"
    return tr("ended{place} with {how}", place=place, how=how)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _reached(iteration: int, *, unfinished: bool) -> str:
    """Return `in iteration 5` if the iteration was under way, `after iteration 4` if it had ended.

    Empty if none was recorded.
    """
    if not iteration:
        return ""
    if unfinished:
        return tr("in iteration {iteration}", iteration=iteration)
    return tr("after iteration {iteration}", iteration=iteration)


@say.register
def ranks_lost(ranks: statements.RanksLost) -> str:
    """Say which ranks ended too early, machine by machine."""
    return "; ".join(map(_on_node, ranks.nodes))


def _on_node(lost: statements.LostOnNode) -> str:
    where = ""
    if lost.node is not None:
        where = f"on node {lost.node} "
    if not lost.seen:
        ends = [f"{where}rank {rank.rank} ended {_when(rank)}, {_how(rank)}" for rank in lost.ended]
        return "; ".join(ends)
    rank = lost.ended[0]
    ended = "ended first" if lost.first else "ended"
    sentence = f"{where}rank {rank.rank} {ended}, {_when(rank)}, {_how(rank)}"
    if lost.after:
        sentence += f"; {named(lost.after)} ended after it"
    elif lost.waiting:
        were = "was" if len(lost.waiting) == 1 else "were"
        waiting = f"{named(lost.waiting)} {were} still waiting in iteration {lost.last}"
        sentence += f"; {waiting} when the run was ended"
    return sentence


def _when(rank: statements.LostRank) -> str:
    reached = _reached(rank.iteration, unfinished=rank.unfinished)
    return reached or "before its first loss"


def _how(rank: statements.LostRank) -> str:
    if rank.error:
        return f"with {rank.error}"
    if rank.exited:
        return "by its own exit or an error that was caught"
    return "killed by a signal or left by os._exit: its interpreter did not come to its exit"


@say.register
def ranks_behind(slow: statements.RanksBehind) -> str:
    """Say which ranks have recorded least, if no rank ended."""
    if slow.last == slow.furthest:
        return f"all {slow.world} ranks have come to iteration {slow.furthest} and none is behind"
    number = len(slow.ranks)
    they, are = ("it", "is") if number == 1 else ("they", "are")
    where = f"{they} recorded no loss"
    if slow.last:
        where = f"the last iteration of which {they} recorded a loss is {slow.last}"
    others = "the other" if slow.world - number == 1 else "the others"
    return f"{named(slow.ranks)} {are} behind: {where}, {others} came to iteration {slow.furthest}"


@say.register
def uneven_ranks(ranks: statements.UnevenRanks) -> str:
    """Say how many iterations the ranks recorded."""
    counts = [f"{named(of)} recorded {count(length, 'iteration')}" for length, of in ranks.lengths]
    return f"the ranks are not of the same length: {', '.join(counts)}"
