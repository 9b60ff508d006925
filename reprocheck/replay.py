"""A recorded check, read back, judged and explained: the one way from a report folder to the result model. Never runs anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.model import Check, CheckRecord, DeeperPair, EnvironmentDifference, Run, Trace


def load(folder: str | Path) -> Check:
    """The check recorded in `folder`: traces read, losses compared, verdict given, and what deeper runs say of the reason.

    Raises ReportError where the folder is missing or holds no readable record.
    """
    folder = Path(folder)
    return explained(judged(folder), folder)


def judged(folder: Path) -> Check:
    """The check recorded in `folder`, without its deeper runs. Raises ReportError."""
    from reprocheck import record as records
    from reprocheck.trace import read_run
    from reprocheck.verdict import judge

    record = records.read(folder)
    runs = tuple(read_run(folder, run) for run in record.runs)
    verdict = judge(runs, record.tolerance, fail_on=str(_setting(record, "fail_on", "checks")))
    state_left = _state_left(runs)
    return Check(
        record=record,
        runs=runs,
        verdict=verdict,
        environment_differences=tuple(_environment_differences(runs)),
        state_left=state_left,
        changed_to_observe=_unique((*record.changed_to_observe, *_of_runs(runs, "changed_to_observe"), *_stops(runs))),
        caveats=_unique((*verdict.caveats, *record.caveats, *_of_runs(runs, "caveats"), *_left_alive(runs), *_state_caveat(state_left))),
        coverage=_unique(_coverage(runs)),
    )


def explained(check: Check, folder: Path) -> Check:
    """A judged check with the deeper pairs and arms that its record in `folder` holds by now, and the ladder, causes and search of them.

    Whatever goes wrong here is said in the coverage: the verdict stands on its own. Raises ReportError where there is no record.
    """
    from reprocheck import record as records

    record = records.read(folder)
    whole = tuple(pair for pair in record.deeper if _whole(pair))
    check = replace(
        check,
        record=replace(record, deeper=whole),
        caveats=_unique((*check.caveats, *record.caveats)),
        coverage=_unique((*check.coverage, *(line for pair in record.deeper for line in _deeper_coverage(pair)))),
    )
    if not whole and not record.arms and check.verdict.verdict not in ("not_reproducible", "script_failed"):
        return check
    try:
        from reprocheck import explain

        ladder = explain.ladder(check, folder)
        if ladder is not None:
            check = replace(check, ladder=ladder, coverage=_unique((*check.coverage, *ladder.coverage)))
        check = replace(check, causes=tuple(explain.causes(check, folder)))
        if (result := explain.searched(check, folder)) is not None:
            check = replace(check, causes=result.causes, search=result.search)
        check = _with_scan(check, folder)
    except Exception as error:
        line = f"The reason of the difference could not be worked out: {type(error).__name__}: {error}".rstrip(": ")
        check = replace(check, coverage=(*check.coverage, line))
    return check


def _with_scan(check: Check, folder: Path) -> Check:
    """The check with what the scan says of its files; what it says alone becomes a cause only where there is no other."""
    from reprocheck import explain

    try:
        check = replace(check, scan=explain.scanned(check, folder))
        return replace(check, causes=check.causes or explain.suspected(check))
    except Exception as error:
        line = f"The source could not be scanned: {type(error).__name__}: {error}".rstrip(": ")
        return replace(check, coverage=(*check.coverage, line))


def _whole(pair: DeeperPair) -> bool:
    return len(pair.runs) == 2 and all(run.ended != "interrupted" for run in pair.runs)


def _deeper_coverage(pair: DeeperPair) -> Iterator[str]:
    """What is missing of a deeper pair."""
    name = f"level {pair.level}"
    if not _whole(pair):
        yield f"The two runs at {name} were broken off, so nothing is concluded from them."
        return
    for run in pair.runs:
        if run.ended == "failed":
            yield f"Run {run.number} at {name} failed with exit status {run.exit_status}; what it recorded until then was compared."
        elif run.ended == "timed_out":
            yield f"Run {run.number} at {name} was ended by the timeout; what it recorded until then was compared."


def _setting(record: CheckRecord, name: str, default: object) -> object:
    return next((setting.value for setting in record.settings if setting.name == name), default)


def _unique(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))


def _of_runs(runs: Sequence[Run], attribute: str) -> Iterator[str]:
    for run in runs:
        yield from getattr(run, attribute)


def _state_left(runs: Sequence[Run]) -> tuple[str, ...]:
    """Files that run 1 created or changed and that a later run opened for reading before it wrote them itself."""
    if not runs:
        return ()
    left = {*runs[0].record.files.created, *runs[0].record.files.changed}
    return tuple(sorted(left & {path for run in runs[1:] for path in run.opened}))


def _state_caveat(state_left: tuple[str, ...]) -> Iterator[str]:
    if state_left:
        shown = ", ".join(state_left[:5]) + (f" and {len(state_left) - 5} more" if len(state_left) > 5 else "")
        yield f"State left by run 1: a later run read {shown}, written by run 1. `--workdir copy` gives each run its own folder."


def _stops(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        stops = sorted({trace.stopped_at for trace in run.traces if trace.stopped_at is not None})
        if stops:
            yield f"Early stop: each run was ended after iteration {stops[-1]} (`--steps all` records the whole training)."


def _left_alive(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        if run.record.killed and run.record.ended in ("completed", "failed"):
            yield f"Run {run.number} left {run.record.killed} process(es) alive at its end; they were killed."


def _environment_differences(runs: Sequence[Run]) -> Iterator[EnvironmentDifference]:
    """Facts that are not the same as in run 1, each once a run, rank by rank."""
    if not runs:
        return
    for run in runs[1:]:
        pairs = [(runs[0].environment, run.environment)]
        pairs += [(first.environment, other.environment) for first, other in zip(runs[0].traces, run.traces, strict=False)]
        seen: set[str] = set()
        for reference, facts in pairs:
            if not reference or not facts:
                continue
            for key in sorted({*reference, *facts} - seen):
                if reference.get(key) != facts.get(key):
                    seen.add(key)
                    yield EnvironmentDifference(key=key, run=run.number, reference=reference.get(key), value=facts.get(key))


# ---------------------------------------------------------------------------------------------------------------- coverage


def _coverage(runs: Sequence[Run]) -> Iterator[str]:
    """What was recorded, and what could not be."""
    for run in runs:
        if not run.processes:
            yield (
                f"Run {run.number}: no process loaded the recorder. An interpreter started with -I, -E or -S ignores PYTHONPATH, a "
                "script can reset it, and a program that is not Python has no hooks."
            )
        elif not run.traces:
            yield f"Run {run.number}: {len(run.processes)} process(es) loaded the recorder, none of them recorded a loss or an update."
    for run in runs[:1]:
        for trace in run.traces:
            yield _recorded(trace)
            if not trace.weights_seen:
                yield f"Rank {trace.rank}: weights were not fingerprinted, so whether the first update changed them is not known."
    yield from _of_runs(runs, "problems")
    for run in runs:
        for trace in run.traces:
            if trace.cut:
                yield f"Run {run.number}, rank {trace.rank}: the trace ends in mid-line; what stands before it was kept."


def _recorded(trace: Trace) -> str:
    frameworks = ", ".join(f"{name} {version}" for name, version in trace.frameworks.items()) or "no framework"
    return f"Rank {trace.rank}: {len(trace.losses.values)} losses in {len(trace.losses)} iterations, recorded through {frameworks}."
