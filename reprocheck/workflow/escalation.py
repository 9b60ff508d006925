"""Record two more runs at deeper levels, if they can say why the runs differ.

After a check.

The verdict never depends on the deeper runs.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.errors import ReprocheckError, message
from reprocheck.model import rules_of
from reprocheck.model.statement import Statement
from reprocheck.model.statements.check import NoValues, Unfinished, ValuesMissing
from reprocheck.wording import progress, say
from reprocheck.wording.verdict import worded
from reprocheck.workflow import advice
from reprocheck.workflow.recorded_pair import (
    ENDED_EARLY,
    differs,
    differs_in_bits,
    diverges_later,
    explains,
    last_checked,
    own_pair,
)

if TYPE_CHECKING:
    from reprocheck.launch.observer import Teller
    from reprocheck.launch.run.further_runs import Level
    from reprocheck.model import Check, EntryPoint, Rung
    from reprocheck.model.replay import Replay
    from reprocheck.settings import Settings


LEAST, MOST = 2, 1000
"""Iterations that are recorded at a deeper level."""
MOST_FOR_STATE = 100
"""Iterations that are recorded so that run 1 leaves again what it left."""
WITH_OPERATORS = "torch"
"""The framework of which level `op` records single operators."""
OF_OPERATORS = ("forward", "loss", "gradient")
"""Rungs on which the operators inside a module can say more than the module."""


def escalate(
    check: Check, entry: EntryPoint, held: Settings, folder: Path, teller: Teller
) -> Check:
    """Return the check with what deeper runs say of it; the runs are made if they are wanted.

    Never raises, except for an interrupt.
    """
    advice.note(check, folder)
    if explains(check) is not None:
        by_module = _explained(check, folder)
    elif wanted(check, held):
        by_module = _by_module(check, entry, held, folder, teller)
    else:
        return _explained(check, folder)
    rung = by_module.first_rung
    worth_it = held.explain and rung is not None and operators_say_more(check, rung)
    if held.level != "op" and not worth_it:
        return by_module
    return _by_operator(check, rung, entry, held, folder, teller)


def _by_module(
    check: Check, entry: EntryPoint, held: Settings, folder: Path, teller: Teller
) -> Check:
    """Return the check with two more runs at level `module`.

    Around the first difference if that is enough, else from the start.
    """
    begin = around(check, held, check.verdict.bitwise.first_iteration)
    if begin > 1:
        late = _recorded(check, entry, held, folder, teller, level="module", begin=begin)
        if says_enough(late):
            return late
        _drop_late(folder, "module")
    return _recorded(check, entry, held, folder, teller, level="module")


def _by_operator(
    check: Check,
    rung: Rung | None,
    entry: EntryPoint,
    held: Settings,
    folder: Path,
    teller: Teller,
) -> Check:
    """Return the check with two more runs at level `op`, inside the differing module.

    Level `module` named it.

    The runs are recorded around the difference if that is enough, else from the start.
    """
    inside = "" if rung is None else rung.inside
    begin = around(check, held, iteration_of(rung))
    if begin > 1:
        late = _recorded(check, entry, held, folder, teller, level="op", inside=inside, begin=begin)
        if names_operator(late):
            return late
        _drop_late(folder, "op")
    return _recorded(check, entry, held, folder, teller, level="op", inside=inside)


def around(check: Check, held: Settings, first: int | None) -> int:
    """Return the first iteration that must be recorded deeply: the one before `first`.

    The runs differ in iteration `first`.

    1 if the training cannot be recorded from a later iteration on, or if run 1 left files, because
    it is not known in which iteration the files are read.
    """
    if first is None or first > up_to_checks(check, held, first):
        return 1
    if own_pair(check) is None or check.state_left:
        return 1
    return max(1, first - 1)


def iteration_of(rung: Rung | None) -> int | None:
    """Return the iteration of a rung at level `module`.

    None if the runs agree or differ only later.
    """
    if rung is None or rung.rung == "later":
        return None
    return rung.iteration


def names_operator(check: Check) -> bool:
    """Return whether runs at level `op` from a later iteration on name the operator.

    The one that differs.

    True, too, if operators can say no more of the rung that differs.
    """
    rung = check.first_rung
    if rung is None or rung.rung not in OF_OPERATORS:
        return True
    return rung.operator is not None


def says_enough(check: Check) -> bool:
    """Return whether runs recorded from a later iteration on show where the difference comes from.

    Weights that differ already in that iteration do not: an earlier iteration made them differ.
    """
    ladder = check.ladder
    if ladder is None or not ladder.came_back:
        return False
    return ladder.first not in (None, "initial weights", "later")


def _drop_late(folder: Path, level: Level) -> None:
    """Remove the runs that began at a later iteration from the record; their folders stay."""
    from reprocheck.recording import record

    with suppress(ReprocheckError):
        held = record.read(folder)
        kept = tuple(pair for pair in held.deeper if pair.begin == 1 or pair.level != level)
        record.write(folder, replace(held, deeper=kept))


def wanted(check: Check, held: Settings) -> bool:
    """Return whether two more runs at level `module` are wanted.

    They are if the level was asked for, or if the check failed and is to be explained.
    """
    if check.verdict.verdict in ENDED_EARLY:
        return False
    if not check.traces or any(trace.process.in_thread for trace in check.traces):
        return False
    if held.asks_for_modules:
        return True
    return held.explain and differs(check)


def iterations(check: Check, held: Settings, begin: int = 1) -> int:
    """Return how many iterations to record.

    Up to the one that decided the verdict, and at least two after `begin`.

    `begin` is the first iteration that is recorded deeply. Never more than the user allows.
    """
    verdict = check.verdict
    needed: list[int | None] = []
    if begin > 1:
        # Where a loss closes its iteration, the gradients of that come behind it.
        needed.append(begin + 2)
    in_bits = verdict.fails_by_losses or differs_in_bits(check)
    if verdict.verdict == "reproducible" and in_bits:
        needed.append(verdict.bitwise.first_iteration)
    if "bitwise" not in rules_of(held.fail_on) and diverges_later(check):
        needed.append(verdict.diverges_from)
    # Run 1 wrote it somewhere on its way: a shorter run might never come there.
    if check.state_left:
        needed.append(min(recorded(check), MOST_FOR_STATE))
    return up_to_checks(check, held, max(filter(None, needed), default=0))


def recorded(check: Check) -> int:
    """Return how many iterations run 1 recorded; of several ranks the largest number."""
    traces = chain.from_iterable(map(attrgetter("traces"), check.runs[:1]))
    return max((len(trace.losses) for trace in traces), default=0)


def up_to_checks(check: Check, held: Settings, needed: int = 0) -> int:
    """Return how many iterations both checks need, or `needed` if that is more.

    The forward and the backward check.

    Never more than the user allows.
    """
    return min(max(LEAST, last_checked(check), needed), MOST, held.steps or MOST)


def operators_say_more(check: Check, rung: Rung) -> bool:
    """Return whether level `op` can name the operation that made the difference.

    It cannot if a draw or another control flow explains the difference, or for frameworks other
    than PyTorch.
    """
    if not any(WITH_OPERATORS in run.frameworks for run in check.runs):
        return False
    return rung.rung in OF_OPERATORS and not rung.generators.drawn and not rung.another_path


def _recorded(
    check: Check,
    entry: EntryPoint,
    held: Settings,
    folder: Path,
    teller: Teller,
    *,
    level: Level,
    inside: str = "",
    begin: int = 1,
) -> Check:
    """Return the check with one more pair of runs; an error is noted in the record."""
    from reprocheck import launch

    teller.deeper(worded(check.verdict).title, level, inside)
    try:
        count = iterations(check, held, begin)
        launch.record_deeper(
            entry,
            held,
            folder,
            teller,
            level=level,
            inside=inside,
            begin=begin,
            iterations=count,
            point=check.differing_run.record.point,
            output=teller.output,
        )
    except Exception as error:
        keep_caveat(folder, Unfinished(what="pair", level=level, message=message(error)))
    finally:
        teller.clear()
    teller.status(progress.looking())
    try:
        return _explained(check, folder)
    finally:
        teller.clear()


def _explained(check: Check, folder: Path) -> Check:
    """Return the check explained from its present record, as later reports of the folder are."""
    from reprocheck.workflow import replay

    try:
        return replay.explained(check, folder)
    except ReprocheckError:
        return check


def keep_caveat(folder: Path, caution: Statement) -> None:
    """Add a caveat to the record in a folder, as a sentence."""
    from reprocheck.recording import record

    with suppress(ReprocheckError):
        held = record.read(folder)
        record.write(folder, replace(held, caveats=(*held.caveats, say(caution))))


def with_operands(
    check: Check, entry: EntryPoint, held: Settings, folder: Path, teller: Teller
) -> Check:
    """Return the check with the inputs of the operation that differs first.

    They lie in a file beside `replay.py`.

    If there are no values, a caveat says why. Never raises, except for an interrupt.
    """
    from reprocheck.workflow import replay

    culprit = None
    if check.ladder is not None:
        culprit = check.ladder.replay
    if culprit is None and not check.verdict.exit_code:
        return check
    caution: Statement | None = NoValues(why="no operator")
    if culprit is not None:
        caution = _record_operands(culprit, check, entry, held, folder, teller)
    if caution is not None:
        keep_caveat(folder, caution)
    return replay.explained(check, folder)


def _record_operands(
    culprit: Replay,
    check: Check,
    entry: EntryPoint,
    held: Settings,
    folder: Path,
    teller: Teller,
) -> Statement | None:
    """Record the input values; return a caveat if some are missing."""
    from reprocheck import launch
    from reprocheck.replay import values

    pair = next((one for one in check.record.deeper if one.level == "op"), None)
    if culprit.of != "operator" or pair is None:
        return NoValues(why="no operator")
    inputs = values.wanted(culprit)
    if not inputs:
        return NoValues(why="no input", operator=culprit.name)
    wanted = {"operator": culprit.name, "inputs": inputs, "most": values.MOST_BYTES}
    teller.status(progress.recording(culprit.name))
    try:
        found = launch.record_operands(
            entry,
            held,
            folder,
            teller,
            folder / values.NAME,
            like=pair,
            wanted=wanted,
            output=teller.output,
        )
    except Exception as error:
        return Unfinished(what="values", message=message(error))
    finally:
        teller.clear()
    if not found:
        return NoValues(why="not again", operator=culprit.name)
    kept = values.with_values(culprit, folder).values
    missing = tuple(path for path in inputs if path not in kept)
    if not missing:
        return None
    most = values.MOST_BYTES // 1_000_000
    return ValuesMissing(operator=culprit.name, most=most, paths=missing)
