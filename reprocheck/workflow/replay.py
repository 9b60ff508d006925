"""Read back a recorded check, judge it and explain it.

The only way from a report folder to the result model.

Never runs the user's script.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

from reprocheck.errors import ReportError
from reprocheck.ladder.external_inputs import VARIABLE
from reprocheck.launch.observer import Observer
from reprocheck.model import (
    Arm,
    Between,
    Cause,
    Check,
    CheckRecord,
    DeeperPair,
    EnvironmentDifference,
    Noise,
    Run,
)
from reprocheck.model.mirrors import Mirrors
from reprocheck.model.ranks import together
from reprocheck.model.statement import Statement
from reprocheck.model.statements.check import (
    CutTrace,
    EachRank,
    Explained,
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
from reprocheck.recording.sides import SOURCES, arguments
from reprocheck.rules import entry
from reprocheck.settings import Settings, variations
from reprocheck.settings.must_differ import NONE
from reprocheck.wording import progress, told
from reprocheck.workflow.left_files import (
    carried,
    first_printed_difference,
    of_earlier,
    read_by_later,
    seen_by_later,
)
from reprocheck.workflow.recorded_pair import explains, own_pair

_TO_EXPLAIN = ("not_reproducible", "script_failed")
"""Verdicts that have reasons, also where nothing was recorded beside the runs."""


def load(folder: str | Path) -> Check:
    """Return the check recorded in `folder`; nothing is run.

    Traces read, losses compared, verdict given, and what deeper runs say of the reason.

    Args:
        folder: A report folder, such as `reports/latest`.

    Returns:
        The result, as of `check`.

    Raises:
        ReportError: Where the folder is missing or holds no readable record.

    Examples:
        >>> found = reprocheck.load("reports/latest")
        >>> found.verdict.title, len(found.runs)
        ('REPRODUCIBLE', 2)
    """
    from reprocheck.recording.record import RESUME

    folder = Path(folder)
    # the runs of a resume are not meant to agree from their first iteration on
    if (folder / RESUME).exists():
        raise ReportError(
            f"{folder} is a check of a resume.",
            "`reprocheck report` draws it, and `reprocheck bundle` packs what may be sent of it.",
        )
    check = explained(replace(judged(folder), closed=True), folder)
    close(folder)
    return told(check)


def close(folder: Path) -> None:
    """Mark the report folder as complete: reports show the user's files as kept there."""
    if (folder / SOURCES).exists():
        from reprocheck.ladder import sources

        sources.close(folder)


def joined(
    folders: tuple[Path, Path], names: tuple[str, str], held: Settings, *, force: bool = False
) -> tuple[Check, Path]:
    """Return two separate recordings as one check, together with its new report folder.

    Raises ReportError; UsageError if the recordings are of different scripts, unless `force`.
    """
    from reprocheck import launch
    from reprocheck.recording import bundle, sides

    folder = launch.prepare(
        held.output, f"{launch.safe_name(bundle.read(folders[0]).entry_point.name)}-compared"
    )
    try:
        sides.join(
            *folders,
            folder,
            names=names,
            tolerance=held.tolerance,
            settings=held.provenance,
            force=force,
        )
        check = load(folder)
        launch.publish(folder, held.keep)
    except BaseException:
        launch.discard(folder)
        raise
    return check, folder


def judged(folder: Path) -> Check:
    """Return the check recorded in `folder`, without its deeper runs. Raises ReportError."""
    check = recorded_check(folder)
    if check.record.setting("must_differ", NONE) == NONE:
        return check
    from reprocheck.search.seed_effect import with_seed_effect

    return with_seed_effect(check, folder)


def recorded_check(folder: Path) -> Check:
    """Return the check with the verdict on its runs alone, which have one seed."""
    from reprocheck.recording import record as records
    from reprocheck.trace import read_run
    from reprocheck.verdict import judge, paired

    record = records.read(folder)
    runs = paired([read_run(folder, run) for run in record.runs], record.tolerance)
    verdict = judge(runs, record.tolerance, fail_on=record.fail_on)
    left = carried(record, runs)
    read = read_by_later(left)
    seen = seen_by_later(left) if verdict.verdict == "reproducible" else ()
    ended = [run for run in runs if run.record.ended in ("completed", "failed")]
    alive = [LeftAlive(run=run.number, processes=run.record.killed) for run in ended]
    further: tuple[DeeperPair | Arm, ...] = (*record.deeper, *record.arms)
    recorded = (*record.runs, *chain.from_iterable(one.runs for one in further))
    masked = ValuesMasked(in_record=record.masked, in_logs=sum(run.masked for run in recorded))
    differences = [*_environment_differences(runs)]
    if len(record.compared) == len(runs) == 2:
        differences += _differing(2, *_facts_of_sides(record, runs))
    return Check(
        record=record,
        runs=runs,
        verdict=verdict,
        environment_differences=tuple(differences),
        state_left=left.read,
        state_alike=left.alike,
        state_visible=left.visible,
        state_caution=read,
        changes=(*_of_runs(runs, "changed_to_observe"), *changed_by_stops(runs)),
        cautions=(
            *verdict.cautions,
            *of_earlier(record, runs),
            *record.caveats,
            *_of_runs(runs, "caveats"),
            *(one for one in alive if one.processes),
            *filter(None, (read,)),
            *seen,
        ),
        unrecorded=(*_coverage(runs), *([masked] if masked.in_record or masked.in_logs else ())),
        folder=folder.absolute(),
    )


def nothing_to_compare(folder: Path, observer: Observer) -> bool:
    """Return whether run 1 ended before its checks could be made: run 2 is useless.

    The forward and the backward check.

    The observer is told so.
    """
    from reprocheck.recording import record as records
    from reprocheck.trace import read_run
    from reprocheck.verdict import ended_before_checks

    record = records.read(folder)
    if len(record.runs) != 1 or not record.runs[0].ended_badly:
        return False
    useless = ended_before_checks(read_run(folder, record.runs[0]))
    if useless:
        observer.message(progress.useless())
    return useless


def with_record(check: Check, folder: Path) -> Check:
    """Return the check with the present record of its folder. Raises ReportError."""
    from reprocheck.recording import record as records

    return replace(check, record=records.read(folder))


def explained(check: Check, folder: Path) -> Check:
    """Return a judged check with its ladder, causes and search.

    The deeper pairs and arms are those of its present record.

    An error here is noted in the coverage: the verdict stands on its own. Raises ReportError if
    there is no record.
    """
    from reprocheck.recording import record as records
    from reprocheck.search.variations import variations_of

    record = records.read(folder)
    whole = tuple(filter(_whole, record.deeper))
    if all(pair.level != "module" for pair in whole):
        own = filter(None, (explains(check),))
        whole = (*own, *whole)
    missing = chain.from_iterable(map(_deeper_coverage, record.deeper))
    if record.compared:
        check = _with_noise(check, folder)
    check = replace(
        check,
        record=replace(record, deeper=whole),
        cautions=(*check.cautions, *record.caveats),
        unrecorded=(*check.unrecorded, *missing),
    )
    check = _with_deeper_mirrors(check, folder)
    has_reasons = whole or record.arms or check.verdict.verdict in _TO_EXPLAIN
    if has_reasons:
        check = _with_causes(check, folder)
    elif check.verdict.verdict == "reproducible" and check.verdict.bitwise.equal:
        check = _with_hidden_difference(check, folder)
    check = replace(check, variations=variations_of(check, folder))
    if has_reasons:
        check = _with_search(check, folder)
    if check.verdict.verdict == "seed_without_effect":
        from reprocheck.workflow.lead import lead_of

        check = replace(check, lead=lead_of(check))
    if record.compared:
        from reprocheck.ladder.agreeing import between

        check = replace(check, between=between(check))
    return check


def _with_deeper_mirrors(check: Check, folder: Path) -> Check:
    """Add the mirrors that only a run at level `module` of its own shows, as for JAX."""
    from reprocheck.trace import read_run
    from reprocheck.verdict.mirrors import mirrors_of

    own = {run.record.trace for run in check.runs}
    deeper = (pair.runs[0] for pair in check.record.deeper if pair.level == "module")
    record = next((run for run in deeper if run.trace not in own), None)
    if record is None:
        return check
    known, further = check.verdict.mirrors, mirrors_of(read_run(folder, record))
    places = {(one.kind, one.place, one.line) for one in known.found}
    new = [one for one in further.found if (one.kind, one.place, one.line) not in places]
    mirrors = Mirrors(
        found=(*known.found, *new),
        not_seen=tuple(kind for kind in known.not_seen if kind in further.not_seen),
    )
    verdict = replace(check.verdict, mirrors=mirrors)
    return replace(check, verdict=verdict, cautions=(*check.cautions, *new))


def _with_hidden_difference(check: Check, folder: Path) -> Check:
    """Add a caveat to a pass with equal losses for all else that differs.

    Such as printed output.
    """
    from reprocheck.ladder.rungs import ladder_of

    cautions: list[Statement] = []
    try:
        ladder = None
        pair = own_pair(check)
        if pair is not None:
            ladder = ladder_of(replace(check, record=replace(check.record, deeper=(pair,))), folder)
    except Exception as error:
        return _without(check, "beside the losses", error)
    if ladder is not None and ladder.first not in (None, "environment", "files and arguments"):
        cautions.append(OthersDiffer(first=ladder.statement or ""))
    number = None
    if not check.verdict.differing_series:
        number = first_printed_difference(check, folder)
    if number is not None:
        cautions.append(PrintedDiffers(line=number))
    return replace(check, cautions=(*check.cautions, *cautions))


def _without(check: Check, what: Explained, error: Exception) -> Check:
    """Return the check with a note that an error ended a part of the explanation."""
    ended = Undetermined(what=what, error=f"{type(error).__name__}: {error}".rstrip(": "))
    return replace(check, unrecorded=(*check.unrecorded, ended))


def _with_causes(check: Check, folder: Path) -> Check:
    """Return the check with ladder, causes and scan."""
    try:
        from reprocheck.causes.cause import causes_of
        from reprocheck.causes.scan_findings import with_scan
        from reprocheck.ladder.rungs import ladder_of
        from reprocheck.replay.values import with_values

        ladder = ladder_of(check, folder)
        if ladder is not None:
            if ladder.replay is not None:
                ladder = replace(ladder, replay=with_values(ladder.replay, folder))
            check = replace(check, ladder=ladder)
            missing = (*ladder.unrecorded, *_from_the_start(check))
            check = replace(check, unrecorded=(*check.unrecorded, *missing))
        check = replace(check, causes=tuple(causes_of(check, folder)))
        try:
            return with_scan(check, folder)
        except Exception as error:
            return _without(check, "source", error)
    except Exception as error:
        return _without(check, "cause", error)


def _with_search(check: Check, folder: Path) -> Check:
    """Return the check with what the trials say of its causes, and with its lead."""
    from reprocheck.workflow.lead import lead_of

    try:
        from reprocheck.search.folder_search import searched

        check = replace(check, causes=_beside_variations(check))
        if (result := searched(check, folder)) is not None:
            check = replace(check, causes=result.causes, search=result.search)
    except Exception as error:
        check = _without(check, "cause", error)
    return replace(check, lead=lead_of(check))


def _beside_variations(check: Check) -> tuple[Cause, ...]:
    """Return the causes of a varied check, those at the line of the guilty variation first.

    *What produced it was not recorded* is left out: the variation did.
    """
    if check.variations is None or not check.variations.guilty:
        return check.causes
    unknown = entry("unrecorded-input").code
    lines = {one.source.at for one in check.variations.guilty if one.source is not None}
    causes = (cause for cause in check.causes if cause.code != unknown)
    return tuple(sorted(causes, key=lambda cause: cause.at not in lines))


def _with_noise(check: Check, folder: Path) -> Check:
    """Return a comparison of two recordings with the noise on each side.

    It holds the differing files of the user, too.

    Noise is how far the runs of one side differ among themselves.
    """
    from reprocheck.ladder.files_and_arguments import other_sources
    from reprocheck.trace import read_run
    from reprocheck.verdict import judge, paired

    noise = []
    tolerance = check.record.tolerance
    for number, side in enumerate(check.record.compared, start=1):
        if len(side.runs) < 2:
            continue
        records = [replace(run, number=n) for n, run in enumerate(side.runs, start=1)]
        runs = paired([read_run(folder, run) for run in records], tolerance)
        verdict = judge(runs, tolerance)
        made = [row.max_difference for row in verdict.comparisons if row.max_difference is not None]
        equal = verdict.bitwise.equal
        largest = max(made, default=None)
        noise.append(Noise(side=number, runs=len(runs), equal=equal, largest=largest))
    sources = other_sources(check, folder)
    return replace(check, between=Between(noise=tuple(noise), sources=sources))


def _whole(pair: DeeperPair) -> bool:
    return len(pair.runs) == 2 and all(run.ended != "interrupted" for run in pair.runs)


def _deeper_coverage(pair: DeeperPair) -> Iterator[PairEnded]:
    """Yield what is missing in a pair of deeper runs."""
    if pair.half:
        return
    if not _whole(pair):
        yield PairEnded(level=pair.level)
        return
    for run in pair.runs:
        if run.ended == "failed" or run.ended == "timed_out":
            yield PairEnded(
                level=pair.level, run=run.number, ended=run.ended, exit_status=run.exit_status
            )


def _from_the_start(check: Check) -> Iterator[FromTheStart]:
    """Yield a note if operators had to be recorded from the start, without a need."""
    rung = check.first_rung
    is_late = rung is not None and (rung.iteration or 0) > 2
    if not is_late or own_pair(check) is not None:
        return
    if any(pair.level == "op" and pair.begin == 1 for pair in check.record.deeper):
        yield FromTheStart()


def _of_runs(runs: Sequence[Run], attribute: str) -> Iterator[Any]:
    return chain.from_iterable(map(attrgetter(attribute), runs))


def changed_by_stops(runs: Sequence[Run]) -> Iterator[StopReached]:
    """Yield that reprocheck stopped the runs.

    One statement if all runs ended alike, else one for each.
    """
    stopped: list[tuple[Run, int]] = []
    for run in runs:
        stops = [trace.stopped_at for trace in run.traces if trace.stopped_at is not None]
        if stops:
            stopped.append((run, max(stops)))
    kinds = {(run.record.ended == "stopped", last) for run, last in stopped}
    alike = len(kinds) == 1 and len(stopped) == len(runs)
    for run, last in stopped:
        number = 0 if alike else run.number
        yield StopReached(run=number, last=last, ended=run.record.ended == "stopped")


def _environment_differences(runs: Sequence[Run]) -> Iterator[EnvironmentDifference]:
    """Yield facts of the environment that differ from run 1, once for each run and fact.

    Variables that the program sets itself are no facts of its environment, nor of the processes
    that it starts.
    """
    for run in runs[1:]:
        first = runs[0]
        own = {trace.rank: trace.environment for trace in run.traces}
        pairs = [(first.environment, run.environment)]
        pairs += [(trace.environment, own.get(trace.rank, {})) for trace in first.traces]
        differences: dict[str, EnvironmentDifference] = {}
        for reference, facts in pairs:
            # Where one side recorded no environment, nothing is known to differ.
            if reference and facts:
                for difference in _differing(run.number, reference, facts):
                    differences.setdefault(difference.key, difference)
        own_variables = (*first.own_variables, *run.own_variables)
        set_inside = {f"{VARIABLE}{name}" for name in own_variables} | _set_by_variations(run)
        yield from (one for key, one in differences.items() if key not in set_inside)


def _set_by_variations(run: Run) -> set[str]:
    """Return the facts of the environment that the variations of a run set."""
    rows = (row for row in variations.table() if row.name in run.record.varied)
    variables = set(chain.from_iterable(row.environment for row in rows))
    hashes = {"python.hash_seed"} if "PYTHONHASHSEED" in variables else set()
    return hashes.union(map(VARIABLE.__add__, variables))


def _differing(
    run: int, reference: Mapping[str, object], facts: Mapping[str, object]
) -> Iterator[EnvironmentDifference]:
    """Yield the facts in which a run differs from run 1, sorted by name."""
    for key in sorted(reference.keys() | facts.keys()):
        one, other = reference.get(key), facts.get(key)
        if one != other:
            yield EnvironmentDifference(key=key, run=run, reference=one, value=other)


def _facts_of_sides(record: CheckRecord, runs: Sequence[Run]) -> list[dict[str, object]]:
    """Return, for each of two recordings, its environment, its arguments, and the user's files."""
    with_sources = all(side.sources for side in record.compared)
    each = []
    for side, run in zip(record.compared, runs, strict=True):
        facts: dict[str, object] = {**side.environment, "arguments": arguments(side.entry_point)}
        # The run itself knows better.
        for key in run.environment:
            facts.pop(key, None)
        if with_sources:
            facts |= {f"source.{name}": text for name, text in side.sources.items()}
        each.append(facts)
    return each


def _coverage(runs: Sequence[Run]) -> Iterator[Statement | str]:
    """Yield what was recorded, and what could not be."""
    for run in runs:
        if not run.processes or not run.traces:
            yield NothingOfRun(run=run.number, processes=len(run.processes))
    recorded: list[tuple[int, Statement]] = []
    for trace in runs[0].traces if runs else ():
        losses = LossesRecorded(
            values=len(trace.losses.values),
            iterations=len(trace.losses),
            frameworks=tuple(trace.frameworks.items()),
        )
        recorded.append((trace.rank, losses))
        if runs[0].level == "auto" and (trace.left_because or not trace.deep):
            levels = NotDeep(iterations=trace.deep, because=trace.left_because)
            recorded.append((trace.rank, levels))
        if not trace.weights_seen:
            recorded.append((trace.rank, NoFingerprints()))
    for ranks, statement in together(recorded):
        yield EachRank(ranks=ranks, statement=statement)
    yield from _of_runs(runs, "problems")
    for run in runs:
        cut = sorted({trace.rank for trace in run.traces if trace.cut})
        if cut:
            yield CutTrace(run=run.number, ranks=tuple(cut))
