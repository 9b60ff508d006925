"""Tell what a checkpoint holds of a training, and what the resumed run loaded of it.

Where each part that differs was saved, and where it was loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reprocheck.resume.checkpoint_contents import OF_WEIGHTS, Archive, Entry, Frame, Load
from reprocheck.resume.gap import evidence
from reprocheck.resume.gap.mersenne_twister import class_of
from reprocheck.resume.gap.sides import Side, saved_last
from reprocheck.trace.deep import Seen

Custody = Literal["not saved", "not loaded", "loaded", "unknown"]
"""What became of a part of the training between the two runs."""
Names = tuple[str, Mapping[str, str]]
"""The line of a function under way, and its expressions for the parts of the training."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """Where a part that differs was saved and loaded.

    part   the name of the part among the names of frames
    keys   the dictionary keys under which the checkpoint holds the part
    line   the line that loaded the part, or put it back
    file   the file that holds the part
    other  whether the loaded state was given to another object than the part that trains
    """

    custody: Custody = "unknown"
    part: str = ""
    keys: tuple[str, ...] = ()
    line: str = ""
    file: str = ""
    other: bool = False


def archive_of(continued: Side, resumed: Side, files: Sequence[str]) -> Archive:
    """Return what the continued run saved last, and what the resumed run loaded of it.

    files  the files of the checkpoint
    """
    saves = saved_last(continued.before("saved"))
    entries = [
        Entry(key=path, kind=leaf.dtype, name=leaf.value, file=save.place)
        for save in saves
        for path, leaf in save.inputs
    ]
    reads = [fact.frames for fact in resumed.before("names") if fact.place == "read"]
    opened = [opening for opening in resumed.trace.opened if opening.line]
    # the line that opened one of the files, where no loader is known that did
    of_files: list[Names] = [(opening.line, {}) for opening in opened if opening.path in files]
    training = next(iter(resumed.since("names")), None)
    return Archive(
        entries=tuple(entries),
        loads=tuple(map(_load, resumed.before("load", "restore"))),
        saving=_frames(saves[-1].frames if saves else ()),
        reading=_frames(reads[-1] if reads else of_files[-1:]),
        training=_frames(() if training is None else training.frames),
        opened={opening.path: opening.line for opening in opened},
    )


def _load(fact: Seen) -> Load:
    key = dict(fact.inputs).get("key")
    return Load(part=fact.place, key="" if key is None else str(key.value), line=fact.line)


def _frames(frames: Sequence[Names]) -> tuple[Frame, ...]:
    return tuple(Frame(line=line, names=names) for line, names in frames)


def provenance(gap: evidence.Gap, archive: Archive) -> Provenance:
    """Return where the part that a gap is about was saved and loaded."""
    match gap:
        case evidence.GeneratorGap() | evidence.BatchGap(generator=evidence.GeneratorGap()):
            generator = gap.generator if isinstance(gap, evidence.BatchGap) else gap
            assert generator is not None
            return _of_generator(generator, archive)
        case evidence.BatchGap():
            keys = tuple(entry.key for entry in archive.held([""], "loader"))
            return Provenance(custody="loaded" if keys else "not saved", keys=keys)
        case evidence.OptimizerGap():
            return _of_part(f"optimizer {gap.index}", archive, "optimizer")
        case evidence.ScheduleGap(own=True):
            return _of_weights((gap.place,), archive, own=True)
        case evidence.ScheduleGap(optimizer=None):
            return _of_part(gap.place, archive, "schedule")
        case evidence.ScheduleGap():
            return _of_part(f"optimizer {gap.optimizer}", archive, "optimizer")
        case evidence.WeightsGap():
            return _of_weights(gap.names, archive, own=gap.own)
        case evidence.AverageGap():
            return _of_weights(gap.names, archive, own=False)
    return Provenance()


def _of_part(part: str, archive: Archive, kind: str) -> Provenance:
    """Return the provenance of an optimizer, a scheduler or a scaler."""
    entries = archive.held([part], kind)
    keys = {entry.key for entry in entries} - {""}
    loads = [load for load in archive.loads if load.part == part or load.key in keys]
    origin = _located(part, entries, loads, archive)
    return replace(origin, other=origin.custody == "loaded" and loads[-1].part != part)


def _of_weights(names: Sequence[str], archive: Archive, *, own: bool) -> Provenance:
    """Return the provenance of weights, buffers, copies of weights and numbers beside them.

    `own`: of those that an object of the script has, which entries hold under the last part of its
    name: `['updates']` of `ema.updates`, or what holds as many tensors as that object does.
    """
    entries = archive.held(names, *OF_WEIGHTS)
    if own:
        ends = {name.partition("[")[0].rpartition(".")[2] for name in names}
        entries = [entry for entry in archive.entries if ends & set(words_of(entry.key))]
    keyed = [load for load in archive.loads if load.key]
    loads = [load for load in keyed if any(_are_nested(load.key, one.key) for one in entries)]
    origin = _located(_module_around(names[0], archive), entries, loads, archive)
    if origin.custody == "not loaded" and (own or not keyed):
        return replace(origin, custody="unknown")
    return origin


def _are_nested(one: str, other: str) -> bool:
    """Return whether one of two keys is that of a value inside of the other, or the same."""
    return one.startswith(other) or other.startswith(one)


def _module_around(weight: str, archive: Archive) -> str:
    """Return the innermost module among the names of frames that holds a weight.

    "" if there is none.
    """
    frames = (*archive.training, *archive.saving)
    around = []
    for part in {part for frame in frames for part in frame.names}:
        is_module, path = part.startswith("module "), part.removeprefix("module ")
        if is_module and (not path or f"{weight}.".startswith(f"{path}.")):
            around.append(part)
    return max(around, key=len, default="")


def _located(
    part: str, entries: Sequence[Entry], loads: Sequence[Load], archive: Archive
) -> Provenance:
    """Return where a part was saved and loaded, by the entries that hold it and its loads."""
    if not archive.is_known:
        return Provenance(part=part)
    if not entries:
        return Provenance(custody="not saved", part=part)
    keys = tuple(entry.key for entry in entries)
    if loads:
        return Provenance(custody="loaded", part=part, keys=keys, line=loads[-1].line)
    return Provenance(custody="not loaded", part=part, keys=keys, file=entries[0].file)


def words_of(key: str) -> list[str]:
    """Return the keys of subscripts.

    >>> words_of("['ema']['updates']")
    ['ema', 'updates']
    """
    return [word.strip("'\"") for word in key.strip("[]").split("][")]


def _of_generator(gap: evidence.GeneratorGap, archive: Archive) -> Provenance:
    """Return where the state of a generator was saved and put back.

    It is known by its name, or, one of the script's own, by its class and its last name.
    """
    base = gap.name if class_of(gap.name) else gap.name.partition(":")[0]
    names = [name for frame in archive.frames for name in frame.names]
    part = next((name for name in names if _are_of_one_generator(name, gap.name)), base)
    entries = []
    for entry in archive.entries:
        is_same = entry.name == base or _are_of_one_generator(str(entry.name), gap.name)
        if entry.kind == "generator" and is_same:
            entries.append(entry)
    keys = tuple(entry.key for entry in entries)
    if gap.restored:
        return Provenance(custody="loaded", part=part, keys=keys, line=gap.line)
    if entries:
        return Provenance(custody="not loaded", part=part, keys=keys, file=entries[0].file)
    return Provenance(custody="not saved" if archive.entries else "unknown", part=part)


def _are_of_one_generator(one: str, other: str) -> bool:
    """Return whether two names are of one generator, found by way of other variables.

    >>> _are_of_one_generator("self.rng (random.Random)", "data.rng (random.Random)") True
    """
    if one == other or not class_of(one) or class_of(one) != class_of(other):
        return one == other
    ends = [name.rpartition(" (")[0].rpartition(".")[2] for name in (one, other)]
    return ends[0] == ends[1]


def parts_of(gap: evidence.Gap, archive: Archive) -> list[tuple[str, str, bool]]:
    """Return the parts of the training that a gap is about.

    Each with its name among the names of frames, its key in the checkpoint, and whether it was
    loaded.
    """
    if isinstance(gap, evidence.WeightsGap) and gap.own:
        names = dict.fromkeys(name.partition("[")[0] for name in gap.names)
        return [(name, "", False) for name in names]
    if isinstance(gap, evidence.ScheduleGap) and gap.own:
        return [(gap.place, "", False)]
    origin = provenance(gap, archive)
    is_loaded = origin.custody == "loaded"
    # where it is loaded under several keys, what was saved is not what trains
    if not origin.part or (is_loaded and len(origin.keys) > 1):
        return []
    return [(origin.part, next(iter(origin.keys), ""), is_loaded)]
