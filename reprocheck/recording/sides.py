"""Joins two recordings that were made apart in one folder: run 1 of the first, run 2 of the second.

Imports bundle, record and model. The folder is then read like that of any check. It also holds:

    side-1/run-2 …   further runs of a recording, which show its noise from run to run
    sources.json     the user's files of both recordings: `files`, and as `second` those of the
                     second recording whose text differs from that in the first
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path, PurePath

from reprocheck._version import __version__
from reprocheck.errors import ReportError, UsageError
from reprocheck.files.limits import content
from reprocheck.model import (
    CheckRecord,
    DeeperPair,
    EntryPoint,
    RunRecord,
    Setting,
    Side,
    Tolerance,
)
from reprocheck.recording import bundle, record as records

SOURCES = "sources.json"


def join(
    first: Path,
    second: Path,
    folder: Path,
    *,
    names: tuple[str, str],
    tolerance: Tolerance,
    settings: Sequence[Setting],
    force: bool = False,
) -> CheckRecord:
    """Write the check of two recordings into `folder`, and return its record.

    Raises UsageError if the recordings are of different scripts and `force` is not set, and
    ReportError if a recording cannot be read or the folder cannot be written.

    first, second  the folders of the recordings, see `bundle.opened`
    names          what the user calls the two recordings, for messages
    tolerance      bounds within which losses count as equal
    settings       settings of the comparison, which the record keeps
    """
    recorded = bundle.read(first), bundle.read(second)
    caveat = _same_training(recorded, names, force=force)
    try:
        kept = _sources(first), _sources(second)
        sides = tuple(
            _side(record, place, folder, number, name, texts)
            for record, place, number, name, texts in zip(
                recorded, (first, second), (1, 2), names, kept, strict=True
            )
        )
        observed = chain.from_iterable(one.changed_to_observe for one in recorded)
        controls = chain.from_iterable(one.controls for one in recorded)
        record = CheckRecord(
            reprocheck_version=__version__,
            entry_point=recorded[0].entry_point,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            tolerance=tolerance,
            settings=tuple(settings),
            runs=tuple(side.runs[0] for side in sides),
            environment=recorded[0].environment,
            changed_to_observe=tuple(dict.fromkeys(observed)),
            caveats=(*caveat, *_other_settings(recorded), *_sources_not_kept(kept, names)),
            deeper=_deeper(recorded, (first, second), folder),
            controls=tuple(dict.fromkeys(controls)),
            compared=sides,
        )
        second_texts = {
            path: text for path, text in kept[1].items() if kept[0].get(path, text) != text
        }
        (folder / SOURCES).write_text(
            together((first, second), second=second_texts), encoding="utf-8"
        )
    except OSError as error:
        raise ReportError(
            f"The recordings cannot be copied to {folder}: {error.strerror or error}.",
            "Choose a folder with --output.",
        ) from None
    records.write(folder, record)
    return record


def _same_training(
    recorded: tuple[CheckRecord, CheckRecord], names: tuple[str, str], *, force: bool
) -> tuple[str, ...]:
    """Return a caveat if the recordings are of different scripts.

    Raises UsageError unless `force` is set.
    """
    one, other = (what_ran(record.entry_point) for record in recorded)
    if one == other:
        return ()
    if not force:
        raise UsageError(
            f"{names[0]} is a recording of {one}, {names[1]} one of {other}: these are different"
            " trainings.",
            "Record the same script on both sides, or compare them all the same with --force.",
        )
    return (
        (
            f"The recordings are of different scripts, {one} and {other}, and were compared by"
            " --force."
        ),
    )


def what_ran(entry: EntryPoint) -> str:
    """Return the script or module of an entry point without its folder: `train.py`."""
    if entry.kind == "module" and len(entry.command) > 2:
        return f"-m {entry.command[2]}"
    words = entry.command
    if entry.kind == "script":
        words = words[1:]
    scripts = (word for word in words if word.endswith((".py", ".ipynb")))
    script = next(scripts, None)
    if script is None:
        return entry.name
    return PurePath(script).name


def arguments(entry: EntryPoint) -> str:
    """Return the words of a command after the interpreter, as the user typed them."""
    words = entry.command
    if entry.kind != "command":
        words = words[1:]
    return " ".join(words)


def _other_settings(recorded: Sequence[CheckRecord]) -> list[str]:
    """Return caveats about settings and controls in which the two recordings differ."""
    one, other = (
        {setting.name: setting.value for setting in record.settings} for record in recorded
    )
    lines = [
        f"The sides were recorded with {name} = {one.get(name)} and {name} = {other.get(name)}."
        for name in ("steps", "seed")
        if one.get(name) != other.get(name)
    ]
    first, second = (", ".join(record.controls) or "none" for record in recorded)
    if first != second:
        lines.append(f"The sides were recorded under different controls: {first}; {second}.")
    return lines


def _side(
    record: CheckRecord, source: Path, folder: Path, number: int, name: str, texts: dict[str, str]
) -> Side:
    # The first run of a side is compared with that of the other side: they are run 1 and run 2.
    first, *others = record.runs
    runs = [_copied(first, source, folder, f"run-{number}", number)]
    for own, run in enumerate(others, start=2):
        runs.append(_copied(run, source, folder, f"side-{number}/run-{own}", own))
    return Side(
        name=name,
        entry_point=record.entry_point,
        started=record.started,
        reprocheck_version=record.reprocheck_version,
        settings=record.settings,
        environment=record.environment,
        sources={
            path: hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
            for path, text in texts.items()
        },
        runs=tuple(runs),
    )


def _deeper(
    recorded: Sequence[CheckRecord], sources: Sequence[Path], folder: Path
) -> tuple[DeeperPair, ...]:
    """Return a pair of runs for each deeper level that both recordings hold from iteration 1 on."""
    pairs = []
    first, second = (
        {pair.level: pair for pair in record.deeper if pair.begin == 1} for record in recorded
    )
    for level, one in first.items():
        other = second.get(level)
        if other is None or not one.runs or not other.runs:
            continue
        both = zip((one, other), sources, strict=True)
        runs = tuple(
            _copied(pair.runs[0], source, folder, f"{one.level}/run-{number}", number)
            for number, (pair, source) in enumerate(both, start=1)
        )
        inside = one.inside
        if other.inside != inside:
            inside = ""
        pairs.append(
            replace(
                one,
                iterations=min(one.iterations, other.iterations),
                inside=inside,
                runs=runs,
                half=False,
            )
        )
    return tuple(pairs)


def _copied(run: RunRecord, source: Path, folder: Path, place: str, number: int) -> RunRecord:
    """Copy the files of a run to the folder `place`, and return its record with new paths.

    Only files that belong to a recording are copied.
    """
    for path in bundle.files(source, run.trace.rpartition("/")[0]):
        target = folder / place / PurePath(path).relative_to(PurePath(run.trace).parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / path, target)
    (folder / place / "trace").mkdir(parents=True, exist_ok=True)
    return replace(
        run,
        number=number,
        trace=f"{place}/trace",
        stdout=f"{place}/stdout.log",
        stderr=f"{place}/stderr.log",
    )


def _sources(folder: Path) -> dict[str, str]:
    """Return the texts of the user's files that a recording keeps, by file name.

    The result is empty if sources.json cannot be read.
    """
    kept = _files(_held(folder))
    return {str(name): text for name, text in kept.items() if isinstance(text, str)}


def _files(held: Mapping[str, object]) -> dict[str, object]:
    files = held.get("files")
    if not isinstance(files, dict):
        return {}
    return files


def _sources_not_kept(kept: Sequence[Mapping[str, str]], names: Sequence[str]) -> list[str]:
    """Return a caveat if only one of the two recordings keeps the user's files.

    A check that passes keeps none.
    """
    missing = [name for texts, name in zip(kept, names, strict=True) if not texts]
    if len(missing) != 1:
        return []
    return [f"{missing[0]} keeps no source, so the source of the two sides was not compared."]


def together(folders: Sequence[Path], *, second: Mapping[str, str] | None = None) -> str:
    """Return the text of a sources.json that holds the user's files of several recordings.

    A file that several recordings keep is taken from the first of them.

    second  file name -> text, for files whose text in the second recording is another one
    """
    files: dict[str, object] = {}
    for folder in reversed(folders):
        kept = _files(_held(folder))
        files = {**kept, **files} | {name: text for name, text in kept.items() if text is not None}
    told: dict[str, object] = {"files": files, "closed": True}
    if second:
        told["second"] = dict(second)
    return json.dumps(told, indent=1, sort_keys=True)


def _held(folder: Path) -> dict[str, object]:
    try:
        facts = json.loads(content(folder / SOURCES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(facts, dict):
        return {}
    return facts
