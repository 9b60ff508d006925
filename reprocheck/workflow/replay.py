"""A recorded check, read back, judged and explained: the one way from a report folder to the result
model. Never runs anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.launch.observer import Observer
from reprocheck.model import (
    Between,
    Check,
    CheckRecord,
    DeeperPair,
    EnvironmentDifference,
    Noise,
    Run,
    Trace,
)
from reprocheck.model.ranks import together
from reprocheck.recording.sides import SOURCES, arguments
from reprocheck.settings import Settings
from reprocheck.workflow.carried import carried, caveats, of_earlier, state_caveat


def load(folder: str | Path) -> Check:
    """The check recorded in `folder`: traces read, losses compared, verdict given, and what deeper
    runs say of the reason.

    Raises ReportError where the folder is missing or holds no readable record.
    """
    folder = Path(folder)
    check = explained(judged(folder), folder)
    close(folder)
    return check


def close(folder: Path) -> None:
    """Nothing more is recorded into `folder`: what its reports show of the user's files is
    settled.
    """
    if (folder / SOURCES).exists():
        from reprocheck.ladder import sources

        sources.close(folder)


def joined(
    folders: tuple[Path, Path], names: tuple[str, str], held: Settings, *, force: bool = False
) -> tuple[Check, Path]:
    """Two recordings that were made apart as one check, in a new report folder, which is returned,
    too.

    Raises UsageError where they are of different scripts, unless `force`; ReportError.
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
    """The check recorded in `folder`, without its deeper runs. Raises ReportError."""
    from reprocheck.recording import record as records
    from reprocheck.trace import read_run
    from reprocheck.verdict import judge, paired

    record = records.read(folder)
    runs = paired([read_run(folder, run) for run in record.runs], record.tolerance)
    verdict = judge(runs, record.tolerance, fail_on=str(_setting(record, "fail_on", "checks")))
    found = carried(record, runs)
    return Check(
        record=record,
        runs=runs,
        verdict=verdict,
        environment_differences=(*_environment_differences(runs), *_side_differences(record, runs)),
        state_left=found.read,
        state_alike=found.alike,
        state_visible=found.visible,
        state_caveat=state_caveat(found),
        changed_to_observe=_unique(
            (
                *record.changed_to_observe,
                *_of_runs(runs, "changed_to_observe"),
                *changed_by_stops(runs),
            )
        ),
        caveats=_unique(
            (
                *verdict.caveats,
                *of_earlier(record, runs),
                *record.caveats,
                *_of_runs(runs, "caveats"),
                *_left_alive(runs),
                *caveats(found, passed=verdict.verdict == "reproducible"),
            )
        ),
        coverage=_unique((*_coverage(runs), *_masked(record))),
        folder=folder.absolute(),
    )


def nothing_to_compare(folder: Path, observer: Observer) -> bool:
    """Whether run 1, the only one so far, ended before its checks could be made: then run 2 would
    say nothing. Tells the observer.
    """
    from reprocheck.recording import record as records
    from reprocheck.trace import read_run
    from reprocheck.verdict import ended_before_checks

    record = records.read(folder)
    if len(record.runs) != 1 or not record.runs[0].ended_badly:
        return False
    useless = ended_before_checks(read_run(folder, record.runs[0]))
    if useless:
        observer.message("Run 1 ended before the checks could be made: run 2 is not started.")
    return useless


def explained(check: Check, folder: Path) -> Check:
    """A judged check with the deeper pairs and arms that its record in `folder` holds by now, and
    the ladder, causes and search of them.

    Whatever goes wrong here is said in the coverage: the verdict stands on its own. Raises
    ReportError where there is no record.
    """
    from reprocheck.recording import record as records

    record = records.read(folder)
    whole = tuple(pair for pair in record.deeper if _whole(pair))
    if record.compared:
        check = _with_noise(check, folder)
    check = replace(
        check,
        record=replace(record, deeper=whole),
        caveats=_unique((*check.caveats, *record.caveats)),
        coverage=_unique(
            (*check.coverage, *(line for pair in record.deeper for line in _deeper_coverage(pair)))
        ),
    )
    if whole or record.arms or check.verdict.verdict in ("not_reproducible", "script_failed"):
        check = _with_reasons(check, folder)
    return _with_drift(check) if record.compared else check


def _with_reasons(check: Check, folder: Path) -> Check:
    """The check with ladder, causes, search and scan."""
    try:
        from reprocheck.causes.cause import causes_of
        from reprocheck.ladder.rungs import ladder_of
        from reprocheck.search.confirm import searched

        ladder = ladder_of(check, folder)
        if ladder is not None:
            check = replace(
                check, ladder=ladder, coverage=_unique((*check.coverage, *ladder.coverage))
            )
        check = _with_scan(replace(check, causes=tuple(causes_of(check, folder))), folder)
        if (result := searched(check, folder)) is not None:
            check = replace(check, causes=result.causes, search=result.search)
    except Exception as error:
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        line = f"The cause of the difference could not be determined: {what}"
        check = replace(check, coverage=(*check.coverage, line))
    return check


def _with_noise(check: Check, folder: Path) -> Check:
    """A check of two recordings with what the runs of each side say of the noise there, and what of
    the user's files differs.
    """
    from reprocheck.ladder.other_source import other_sources

    noise = tuple(
        filter(
            None,
            (_noise(check, folder, number) for number in range(1, len(check.record.compared) + 1)),
        )
    )
    return replace(
        check, between=Between(sentence="", noise=noise, sources=other_sources(check, folder))
    )


def _with_drift(check: Check) -> Check:
    """A check of two recordings, after its ladder, with what stands between them."""
    from reprocheck.ladder.drift import between

    return replace(check, between=between(check))


def _noise(check: Check, folder: Path, side: int) -> Noise | None:
    """What the runs of a side say of the noise there; None where it has one run alone."""
    from reprocheck.trace import read_run
    from reprocheck.verdict import judge, paired

    records = check.record.compared[side - 1].runs
    if len(records) < 2:
        return None
    numbered = [replace(run, number=number) for number, run in enumerate(records, start=1)]
    runs = paired([read_run(folder, run) for run in numbered], check.record.tolerance)
    verdict = judge(runs, check.record.tolerance)
    made = [row.max_difference for row in verdict.comparisons if row.max_difference is not None]
    return Noise(
        side=side, runs=len(runs), equal=verdict.bitwise.equal, largest=max(made, default=None)
    )


def _with_scan(check: Check, folder: Path) -> Check:
    """The check with what the scan says of its files; what it says alone becomes a cause only where
    no other names a line.
    """
    from reprocheck.causes.layers import made_at
    from reprocheck.causes.scanned import scanned, suspected

    try:
        check = replace(check, scan=scanned(check, folder))
        check = replace(check, causes=suspected(check))
        return replace(check, causes=made_at(check, folder))
    except Exception as error:
        line = f"The source could not be scanned: {type(error).__name__}: {error}".rstrip(": ")
        return replace(check, coverage=(*check.coverage, line))


def _whole(pair: DeeperPair) -> bool:
    return len(pair.runs) == 2 and all(run.ended != "interrupted" for run in pair.runs)


def _deeper_coverage(pair: DeeperPair) -> Iterator[str]:
    """What is missing of a deeper pair."""
    name = f"level {pair.level}"
    if pair.half:
        return
    if not _whole(pair):
        yield f"The two runs at {name} ended early, so they were not compared."
        return
    for run in pair.runs:
        if run.ended == "failed":
            yield (
                f"Run {run.number} at {name} failed with exit status {run.exit_status}; what it"
                " recorded until then was compared."
            )
        elif run.ended == "timed_out":
            yield (
                f"Run {run.number} at {name} was ended by the timeout; what it recorded until then"
                " was compared."
            )


def _setting(record: CheckRecord, name: str, default: object) -> object:
    return next((setting.value for setting in record.settings if setting.name == name), default)


def _unique(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))


def _of_runs(runs: Sequence[Run], attribute: str) -> Iterator[str]:
    for run in runs:
        yield from getattr(run, attribute)


def changed_by_stops(runs: Sequence[Run]) -> Iterator[str]:
    """One sentence where all runs ended alike; else one for each of them."""
    found = [
        (run, max(stops))
        for run in runs
        if (stops := [one.stopped_at for one in run.traces if one.stopped_at is not None])
    ]
    alike = len({(run.record.ended == "stopped", last) for run, last in found}) == 1
    for run, last in found:
        who = "each run" if alike and len(found) == len(runs) else f"run {run.number}"
        if run.record.ended == "stopped":
            yield (
                f"Early stop: {who} was ended after iteration {last} (`--steps all` records the"
                " whole training)."
            )
        else:
            kept = (
                f"of each training in {who} iterations 1 to {last} were recorded, and its processes"
                " ran to their own end"
            )
            yield f"Not ended early: {kept} (`--steps all` records them whole)."


def _processes(number: int) -> str:
    return "1 process" if number == 1 else f"{number} processes"


def _left_alive(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        if run.record.killed and run.record.ended in ("completed", "failed"):
            yield (
                f"Run {run.number} left {_processes(run.record.killed)} alive at its end, which"
                " reprocheck killed."
            )


def _environment_differences(runs: Sequence[Run]) -> Iterator[EnvironmentDifference]:
    """Facts that are not the same as in run 1, each once a run, rank by rank."""
    if not runs:
        return
    for run in runs[1:]:
        pairs = [(runs[0].environment, run.environment)]
        own = {trace.rank: trace.environment for trace in run.traces}
        pairs += [
            (first.environment, own[first.rank]) for first in runs[0].traces if first.rank in own
        ]
        seen: set[str] = set()
        for reference, facts in pairs:
            if not reference or not facts:
                continue
            for key in sorted({*reference, *facts} - seen):
                if reference.get(key) != facts.get(key):
                    seen.add(key)
                    yield EnvironmentDifference(
                        key=key, run=run.number, reference=reference.get(key), value=facts.get(key)
                    )


def _side_differences(record: CheckRecord, runs: Sequence[Run]) -> Iterator[EnvironmentDifference]:
    """Of two recordings: what their launchers knew of the environment, the arguments, and the
    user's own files.
    """
    if len(record.compared) != 2 or len(runs) != 2:
        return
    known = [
        {**dict(side.environment), "arguments": arguments(side.entry_point)}
        for side in record.compared
    ]
    facts = [
        {key: value for key, value in found.items() if key not in run.environment}
        for found, run in zip(known, runs, strict=True)
    ]
    texts = [
        {f"source.{name}": text for name, text in side.sources.items()} for side in record.compared
    ]
    if all(texts):
        facts = [{**found, **files} for found, files in zip(facts, texts, strict=True)]
    for key in sorted(facts[0].keys() | facts[1].keys()):
        reference, value = facts[0].get(key), facts[1].get(key)
        if reference != value:
            yield EnvironmentDifference(key=key, run=2, reference=reference, value=value)


# ----------------------------------------------------------------------------------------- coverage


def _coverage(runs: Sequence[Run]) -> Iterator[str]:
    """What was recorded, and what could not be."""
    for run in runs:
        if not run.processes:
            yield (
                f"Run {run.number}: no process loaded the recorder. An interpreter started with -I,"
                " -E or -S ignores PYTHONPATH, a script can reset it, and a program that is not"
                " Python has no hooks."
            )
        elif not run.traces:
            yield (
                f"Run {run.number}: {_processes(len(run.processes))} loaded the recorder, and none"
                " recorded a loss or an update."
            )
    for run in runs[:1]:
        for ranks, sentence in together(
            (trace.rank, said) for trace in run.traces for said in _of_rank(trace)
        ):
            yield f"{ranks.capitalize()}{', each' if ranks.startswith('ranks') else ''}: {sentence}"
    yield from _of_runs(runs, "problems")
    for run in runs:
        for ranks, sentence in together(
            (trace.rank, "the last line of the trace is incomplete")
            for trace in run.traces
            if trace.cut
        ):
            yield f"Run {run.number}, {ranks}: {sentence}; the lines before it were kept."


def _masked(record: CheckRecord) -> Iterator[str]:
    """How many values were masked before anything was written."""
    runs = (
        *record.runs,
        *(run for pair in record.deeper for run in pair.runs),
        *(run for arm in record.arms for run in arm.runs),
    )
    in_logs = sum(run.masked for run in runs)
    if record.masked or in_logs:
        yield (
            f"Values that look like secrets or addresses were masked: {record.masked} in the"
            f" command and the settings, {in_logs} in the logs. Tracebacks and kept source go"
            " through the same patterns."
        )


def _of_rank(trace: Trace) -> Iterator[str]:
    frameworks = (
        ", ".join(f"{name} {version}" for name, version in trace.frameworks.items()) or "none"
    )
    yield (
        f"{len(trace.losses.values)} losses in {len(trace.losses)} iterations; frameworks imported:"
        f" {frameworks}."
    )
    if not trace.weights_seen:
        yield (
            "weights were not fingerprinted, so whether the first update changed them is not known."
        )
