"""A recorded check, read back, judged and explained: the one way from a report folder to the result
model. Never runs anything.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, starmap
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from reprocheck.errors import ReportError
from reprocheck.ladder.given import VARIABLE
from reprocheck.language import again, count, mark, tr
from reprocheck.language.letters import capital
from reprocheck.language.ranks import named
from reprocheck.launch.check import CHANGES
from reprocheck.launch.observer import Observer
from reprocheck.model import (
    Arm,
    Between,
    Check,
    CheckRecord,
    DeeperPair,
    EnvironmentDifference,
    Ladder,
    Noise,
    Run,
    Trace,
)
from reprocheck.model.ranks import together
from reprocheck.recording.sides import SOURCES, arguments
from reprocheck.settings import Settings
from reprocheck.wording import told
from reprocheck.wording.ladder import of_ladder
from reprocheck.workflow.advice import REASONS
from reprocheck.workflow.left_files import carried, caveats, of_earlier, state_caveat
from reprocheck.workflow.output_difference import first_printed_difference
from reprocheck.workflow.recorded_pair import explains, own_pair

_Line = TypeVar("_Line", bound=Hashable)
_TO_EXPLAIN = ("not_reproducible", "script_failed")
"""Verdicts that have reasons, also where nothing was recorded beside the runs."""
_CUT = mark("the last line of the trace is incomplete")


def load(folder: str | Path) -> Check:
    """Return the check recorded in `folder`: traces read, losses compared, verdict given, and what
    deeper runs say of the reason. Nothing is run.

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
    folder = Path(folder)
    _refuse_resume(folder)
    check = explained(replace(judged(folder), closed=True), folder)
    close(folder)
    return told(check)


def _refuse_resume(folder: Path) -> None:
    """ReportError for a check of a resume: its runs are not meant to agree from their first
    iteration on.
    """
    from reprocheck.recording.record import RESUME

    if (folder / RESUME).exists():
        raise ReportError(
            f"{folder} is a check of a resume.",
            "`reprocheck report` draws it, and `reprocheck bundle` packs what may be sent of it.",
        )


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
    """Return two recordings that were made apart as one check, in a new report folder, which is
    returned, too.

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
    """Return the check recorded in `folder`, without its deeper runs. Raises ReportError."""
    from reprocheck.recording import record as records
    from reprocheck.trace import read_run
    from reprocheck.verdict import judge, paired

    record = _told(records.read(folder))
    runs = paired([read_run(folder, run) for run in record.runs], record.tolerance)
    verdict = judge(runs, record.tolerance, fail_on=record.fail_on)
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
        cautions=_unique(
            (
                *verdict.cautions,
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


def _told(record: CheckRecord) -> CheckRecord:
    """Return the record with its own sentences in the language that is spoken."""
    changed = tuple(again(said, CHANGES) for said in record.changed_to_observe)
    advice = record.advice
    if advice is not None:
        advice = replace(advice, why=again(advice.why, REASONS))
    return replace(record, changed_to_observe=changed, advice=advice)


def nothing_to_compare(folder: Path, observer: Observer) -> bool:
    """Return whether run 1, the only one so far, ended before its checks could be made: then run 2
    would say nothing. Tells the observer.
    """
    from reprocheck.recording import record as records
    from reprocheck.trace import read_run
    from reprocheck.verdict import ended_before_checks

    record = records.read(folder)
    if len(record.runs) != 1 or not record.runs[0].ended_badly:
        return False
    useless = ended_before_checks(read_run(folder, record.runs[0]))
    if useless:
        observer.message(tr("Run 1 ended before the checks could be made: run 2 is not started."))
    return useless


def with_record(check: Check, folder: Path) -> Check:
    """Return the check with the record in its folder as it is by now. Raises ReportError."""
    from reprocheck.recording import record as records

    return replace(check, record=records.read(folder))


def explained(check: Check, folder: Path) -> Check:
    """Return a judged check with the deeper pairs and arms that its record in `folder` holds by
    now, and the ladder, causes and search of them.

    Whatever goes wrong here is said in the coverage: the verdict stands on its own. Raises
    ReportError where there is no record.
    """
    from reprocheck.recording import record as records

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
        cautions=_unique((*check.cautions, *record.caveats)),
        coverage=_unique((*check.coverage, *missing)),
    )
    if whole or record.arms or check.verdict.verdict in _TO_EXPLAIN:
        check = _with_reasons(check, folder)
    elif check.verdict.verdict == "reproducible" and check.verdict.bitwise.equal:
        check = _with_hidden_difference(check, folder)
    if record.compared:
        check = _with_drift(check)
    return check


def _with_hidden_difference(check: Check, folder: Path) -> Check:
    """Add a caveat to a pass whose losses are equal for each thing beside them that differs."""
    caveats: list[str] = []
    try:
        ladder = _ladder_of_pass(check, folder)
    except Exception as error:
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        line = tr("What differs beside the losses could not be determined: {what}", what=what)
        return replace(check, coverage=(*check.coverage, line))
    if ladder is not None and ladder.first not in (None, "environment", "files and arguments"):
        caveats.append(
            tr(
                "All losses are equal, and not all that the runs made beside them. {sentence}",
                sentence=of_ladder(ladder).sentence,
            )
        )
    number = None
    if not check.verdict.differing_series:
        number = first_printed_difference(check, folder)
    if number is not None:
        caveats.append(
            tr(
                "What the runs printed differs from line {number:,} of `stdout.log` on, and no"
                " recorded value does; clocks, speeds, paths and numbers of processes are not"
                " compared.",
                number=number,
            )
        )
    return replace(check, cautions=_unique((*check.cautions, *caveats)))


def _ladder_of_pass(check: Check, folder: Path) -> Ladder | None:
    """Compare what the runs of a check hold beside their losses; None where they hold nothing."""
    from reprocheck.ladder.rungs import ladder_of

    pair = own_pair(check)
    if pair is None:
        return None
    return ladder_of(replace(check, record=replace(check.record, deeper=(pair,))), folder)


def _with_reasons(check: Check, folder: Path) -> Check:
    """Return the check with ladder, causes, search and scan."""
    from reprocheck.workflow.lead import lead_of

    try:
        from reprocheck.causes.cause import causes_of
        from reprocheck.ladder.rungs import ladder_of
        from reprocheck.search.confirm import searched

        ladder = ladder_of(check, folder)
        if ladder is not None:
            check = replace(check, ladder=_with_values(ladder, folder))
            missing = (*of_ladder(ladder).coverage, *_from_the_start(check))
            check = replace(check, coverage=_unique((*check.coverage, *missing)))
        check = _with_scan(replace(check, causes=tuple(causes_of(check, folder))), folder)
        if (result := searched(check, folder)) is not None:
            check = replace(check, causes=result.causes, search=result.search)
    except Exception as error:
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        line = tr("The cause of the difference could not be determined: {what}", what=what)
        check = replace(check, coverage=(*check.coverage, line))
    return replace(check, lead=lead_of(check))


def _with_values(ladder: Ladder, folder: Path) -> Ladder:
    """Return the ladder; what it replays is given the values that were recorded."""
    if ladder.replay is None:
        return ladder
    from reprocheck.replay.values import with_values

    return replace(ladder, replay=with_values(ladder.replay, folder))


def _with_noise(check: Check, folder: Path) -> Check:
    """Return a check of two recordings with what the runs of each side say of the noise there, and
    what of the user's files differs.
    """
    from reprocheck.ladder.other_source import other_sources

    sides = range(1, len(check.record.compared) + 1)
    noise = tuple(filter(None, map(partial(_noise, check, folder), sides)))
    sources = other_sources(check, folder)
    return replace(check, between=Between(noise=noise, sources=sources))


def _with_drift(check: Check) -> Check:
    """Return a check of two recordings, after its ladder, with what stands between them."""
    from reprocheck.ladder.drift import between

    return replace(check, between=between(check))


def _noise(check: Check, folder: Path, side: int) -> Noise | None:
    """Return what the runs of a side say of the noise there; None where it has one run alone."""
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
    """Return the check with what the scan says of its files, as far as they can be scanned."""
    from reprocheck.causes.scanned import with_scan

    try:
        return with_scan(check, folder)
    except Exception as error:
        line = tr(
            "The source could not be scanned: {kind}: {error}",
            kind=type(error).__name__,
            error=error,
        ).rstrip(": ")
        return replace(check, coverage=(*check.coverage, line))


def _not_deep(trace: Trace) -> str:
    """Return what level `auto` did not record of level `module`, and why; empty where nothing is
    missing.
    """
    if trace.deep and not trace.left_because:
        return ""
    why = tr(trace.left_because) or tr("of this training, level `auto` records the losses alone")
    if trace.deep:
        return tr(
            "level `module` was left after {iterations}: {why}.",
            iterations=count(trace.deep, "iteration"),
            why=why,
        )
    return tr("level `module` was not recorded: {why}.", why=why)


def _whole(pair: DeeperPair) -> bool:
    return len(pair.runs) == 2 and all(run.ended != "interrupted" for run in pair.runs)


def _deeper_coverage(pair: DeeperPair) -> Iterator[str]:
    """Yield what is missing of a deeper pair."""
    name = tr("level {level}", level=pair.level)
    if pair.half:
        return
    if not _whole(pair):
        yield tr("The two runs at {name} ended early, so they were not compared.", name=name)
        return
    for run in pair.runs:
        endings = {
            "failed": tr("failed with exit status {exit_status}", exit_status=run.exit_status),
            "timed_out": tr("was ended by the timeout"),
        }
        if ending := endings.get(run.ended):
            yield tr(
                "Run {number} at {name} {ending}; what it recorded until then was compared.",
                number=run.number,
                name=name,
                ending=ending,
            )


def _from_the_start(check: Check) -> Iterator[str]:
    """Operators that had to be recorded from the start, although the difference lies behind it."""
    rung = check.first_rung
    is_late = rung is not None and (rung.iteration or 0) > 2
    if not is_late or own_pair(check) is not None:
        return
    if any(pair.level == "op" and pair.begin == 1 for pair in check.record.deeper):
        yield tr(
            "Level op was recorded from the start: this training cannot be left alone until the"
            " iteration before the difference."
        )


def _unique(lines: Iterable[_Line]) -> tuple[_Line, ...]:
    return tuple(dict.fromkeys(lines))


def _of_runs(runs: Sequence[Run], attribute: str) -> Iterator[Any]:
    return chain.from_iterable(map(attrgetter(attribute), runs))


def changed_by_stops(runs: Sequence[Run]) -> Iterator[str]:
    """Yield one sentence where all runs ended alike; else one for each of them."""
    found = [(run, last) for run in runs if (last := _stopped_at(run)) is not None]
    kinds = {(run.record.ended == "stopped", last) for run, last in found}
    alike = len(kinds) == 1 and len(found) == len(runs)
    for run, last in found:
        who = tr("run {number}", number=run.number)
        if alike:
            who = tr("each run")
        if run.record.ended == "stopped":
            yield tr(
                "Early stop: {who} was ended after iteration {last} (`--steps all` records the"
                " whole training).",
                who=who,
                last=last,
            )
        else:
            kept = tr(
                "of each training in {who} iterations 1 to {last} were recorded, and its processes"
                " ran to their own end",
                who=who,
                last=last,
            )
            yield tr("Not ended early: {kept} (`--steps all` records them whole).", kept=kept)


def _stopped_at(run: Run) -> int | None:
    """Return the last iteration after which one of its ranks was stopped."""
    stops = [trace.stopped_at for trace in run.traces if trace.stopped_at is not None]
    return max(stops, default=None)


def _left_alive(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        if run.record.killed and run.record.ended in ("completed", "failed"):
            yield tr(
                "Run {number} left {processes} alive at its end, which reprocheck killed.",
                number=run.number,
                processes=count(run.record.killed, "process", "processes"),
            )


def _environment_differences(runs: Sequence[Run]) -> Iterator[EnvironmentDifference]:
    """Yield facts that are not the same as in run 1, each once a run, rank by rank.

    What a program sets itself is no fact of its environment, nor of those that it starts.
    """
    for run in runs[1:]:
        set_inside = set(map(VARIABLE.__add__, {**runs[0].own_variables, **run.own_variables}))
        own = {trace.rank: trace.environment for trace in run.traces}
        pairs = [(runs[0].environment, run.environment)]
        pairs += [(first.environment, own.get(first.rank, {})) for first in runs[0].traces]
        # Where one side recorded no environment, nothing is known to differ.
        differing = starmap(partial(_differing, run.number), filter(all, pairs))
        found: dict[str, EnvironmentDifference] = {}
        for one in chain.from_iterable(differing):
            found.setdefault(one.key, one)
        yield from (one for key, one in found.items() if key not in set_inside)


def _differing(
    run: int, reference: Mapping[str, object], facts: Mapping[str, object]
) -> Iterator[EnvironmentDifference]:
    """Yield what a run has otherwise than the first one, in the order of the names."""
    for key in sorted(reference.keys() | facts.keys()):
        one, other = reference.get(key), facts.get(key)
        if one != other:
            yield EnvironmentDifference(key=key, run=run, reference=one, value=other)


def _side_differences(record: CheckRecord, runs: Sequence[Run]) -> Iterator[EnvironmentDifference]:
    """Yield, of two recordings, what their launchers knew of the environment, the arguments, and
    the user's own files.
    """
    if len(record.compared) != 2 or len(runs) != 2:
        return
    with_sources = all(side.sources for side in record.compared)
    each = []
    for side, run in zip(record.compared, runs, strict=True):
        facts = {**side.environment, "arguments": arguments(side.entry_point)}
        # The run itself knows better.
        for key in run.environment:
            facts.pop(key, None)
        if with_sources:
            facts |= {f"source.{name}": text for name, text in side.sources.items()}
        each.append(facts)
    yield from _differing(2, *each)


def _coverage(runs: Sequence[Run]) -> Iterator[str]:
    """Yield what was recorded, and what could not be."""
    for run in runs:
        if not run.processes:
            yield tr(
                "Run {number}: no process loaded the recorder. An interpreter started with -I,"
                " -E or -S ignores PYTHONPATH, a script can reset it, and a program that is not"
                " Python has no hooks.",
                number=run.number,
            )
        elif not run.traces:
            yield tr(
                "Run {number}: {processes} loaded the recorder,"
                " and none recorded a loss or an update.",
                number=run.number,
                processes=count(len(run.processes), "process", "processes"),
            )
    for run in runs[:1]:
        said = ((trace.rank, line) for trace in run.traces for line in _of_rank(run, trace))
        for ranks, sentence in together(said):
            each = tr(", each") if len(ranks) > 1 else ""
            yield tr(
                "{ranks}{each}: {sentence}",
                ranks=capital(named(ranks)),
                each=each,
                sentence=sentence,
            )
    yield from _of_runs(runs, "problems")
    for run in runs:
        cut = ((trace.rank, _CUT) for trace in run.traces if trace.cut)
        for ranks, sentence in together(cut):
            yield tr(
                "Run {number}, {ranks}: {sentence}; the lines before it were kept.",
                number=run.number,
                ranks=named(ranks),
                sentence=tr(sentence),
            )


def _masked(record: CheckRecord) -> Iterator[str]:
    """Yield how many values were masked before anything was written."""
    beside: tuple[DeeperPair | Arm, ...] = (*record.deeper, *record.arms)
    further = chain.from_iterable(one.runs for one in beside)
    in_logs = sum(run.masked for run in (*record.runs, *further))
    if record.masked or in_logs:
        yield tr(
            "Values that look like secrets or addresses were masked: {masked} in the"
            " command and the settings, {in_logs} in the logs. Tracebacks and kept source go"
            " through the same patterns.",
            masked=record.masked,
            in_logs=in_logs,
        )


def _of_rank(run: Run, trace: Trace) -> Iterator[str]:
    frameworks = ", ".join(map(" ".join, trace.frameworks.items())) or tr("none")
    yield tr(
        "{values} losses in {losses} iterations; frameworks imported: {frameworks}.",
        values=len(trace.losses.values),
        losses=len(trace.losses),
        frameworks=frameworks,
    )
    if run.level == "auto" and (missing := _not_deep(trace)):
        yield missing
    if not trace.weights_seen:
        yield tr(
            "weights were not fingerprinted, so whether the first update changed them is not known."
        )
