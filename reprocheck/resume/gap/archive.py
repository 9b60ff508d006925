"""What a checkpoint holds of a training, by key, and what the resumed run loaded of it: where each
part that differs was saved, and where it was loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reprocheck.resume.gap import evidence
from reprocheck.resume.gap.mersenne_twister import class_of
from reprocheck.resume.gap.sides import Side, saved_last
from reprocheck.resume.model import OF_WEIGHTS, Archive, Entry, Frame, Load
from reprocheck.trace.deep import Seen

Custody = Literal["not saved", "not loaded", "loaded", "unknown"]
"""What became of a part of the training between the two runs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """Where a part that differs was saved and loaded.

    part   what it is called among the names of frames
    keys   where the file holds it
    line   where it was loaded, or put back
    file   that holds it
    other  whether another one than the part that trains was given it
    """

    custody: Custody = "unknown"
    part: str = ""
    keys: tuple[str, ...] = ()
    line: str = ""
    file: str = ""
    other: bool = False


def archive_of(continued: Side, resumed: Side, files: Sequence[str]) -> Archive:
    """Return what the continued run saved last before the boundary, and what the resumed one loaded
    of these files.
    """
    last = saved_last(continued.before("saved"))
    saving = _frames(last[-1].frames) if last else ()
    reads = [fact for fact in resumed.before("names") if fact.place == "read"]
    opened = {one.path: one.line for one in resumed.trace.opened if one.line}
    # the line that opened one of the files, where no loader is known that did
    lines = [one.line for one in resumed.trace.opened if one.path in files and one.line]
    reading = _frames(reads[-1].frames if reads else [(line, {}) for line in lines[-1:]])
    return Archive(
        entries=tuple(
            Entry(key=path, kind=leaf.dtype, name=leaf.value, file=fact.place)
            for fact in last
            for path, leaf in fact.inputs
        ),
        loads=tuple(map(_load, resumed.before("load", "restore"))),
        saving=saving,
        reading=reading,
        training=_frames(next((one.frames for one in resumed.since("names")), [])),
        opened=opened,
    )


def _frames(found: Sequence[tuple[str, Mapping[str, str]]]) -> tuple[Frame, ...]:
    return tuple(Frame(line=line, names=names) for line, names in found)


def _load(fact: Seen) -> Load:
    key = dict(fact.inputs).get("key")
    return Load(part=fact.place, key=str(key.value) if key is not None else "", line=fact.line)


def provenance(gap: evidence.Gap, archive: Archive) -> Provenance:
    """Return where what a gap is of was saved and loaded."""
    generator = gap.generator if isinstance(gap, evidence.BatchGap) else gap
    if isinstance(generator, evidence.GeneratorGap):
        return _of_generator(generator, archive)
    if isinstance(gap, evidence.BatchGap):
        keys = tuple(one.key for one in archive.held([""], "loader"))
        return Provenance(custody="loaded" if keys else "not saved", keys=keys)
    if isinstance(gap, evidence.OptimizerGap):
        return _of_part(f"optimizer {gap.index}", archive, "optimizer")
    if isinstance(gap, evidence.ScheduleGap) and not gap.own:
        if gap.optimizer is not None:
            return _of_part(f"optimizer {gap.optimizer}", archive, "optimizer")
        return _of_part(gap.place, archive, "schedule")
    if isinstance(gap, (evidence.WeightsGap, evidence.AverageGap, evidence.ScheduleGap)):
        return _of_weights(gap, archive)
    return Provenance()


def _of_part(part: str, archive: Archive, kind: str) -> Provenance:
    """Return it of an optimizer, a scheduler or a scaler."""
    held = archive.held([part], kind)
    keys = tuple(one.key for one in held)
    taken = [one for one in archive.loads if one.part == part or (one.key and one.key in keys)]
    found = _located(part, held, taken, archive)
    return replace(found, other=found.custody == "loaded" and taken[-1].part != part)


def _of_weights(
    gap: evidence.WeightsGap | evidence.AverageGap | evidence.ScheduleGap, archive: Archive
) -> Provenance:
    """Return it of weights, buffers, copies of weights, and numbers beside these."""
    names = (gap.place,) if isinstance(gap, evidence.ScheduleGap) else gap.names
    is_own = getattr(gap, "own", False)
    held = _own(names, archive) if is_own else archive.held(names, *OF_WEIGHTS)
    keyed = [one for one in archive.loads if one.key]
    keys = [one.key for one in held]
    taken = [
        one
        for one in keyed
        if any(one.key.startswith(key) or key.startswith(one.key) for key in keys)
    ]
    frames = (*archive.training, *archive.saving)
    known = {part for frame in frames for part in frame.names if part.startswith("module ")}
    fitting = [one for one in known if f"{names[0]}.".startswith(f"{one[7:]}.") or one == "module "]
    found = _located(max(fitting, key=len, default=""), held, taken, archive)
    if found.custody == "not loaded" and (is_own or not keyed):
        return replace(found, custody="unknown")
    return found


def _located(
    part: str, held: Sequence[Entry], taken: Sequence[Load], archive: Archive
) -> Provenance:
    """Return where a part was saved and loaded, by the entries that hold it and its loads."""
    if not archive.is_known:
        return Provenance(part=part)
    if not held:
        return Provenance(custody="not saved", part=part)
    keys = tuple(one.key for one in held)
    if taken:
        return Provenance(custody="loaded", part=part, keys=keys, line=taken[-1].line)
    return Provenance(custody="not loaded", part=part, keys=keys, file=held[0].file)


def _own(names: Sequence[str], archive: Archive) -> list[Entry]:
    """Return the entries with the last part of a name that an object of the script has:
    `['updates']` of `ema.updates`, or what holds as many tensors as that object does.
    """
    ends = {name.partition("[")[0].rpartition(".")[2] for name in names}
    return [one for one in archive.entries if ends & set(words_of(one.key))]


def words_of(key: str) -> list[str]:
    """Return the keys of subscripts.

    >>> words_of("['ema']['updates']")
    ['ema', 'updates']
    """
    return [word.strip("'\"") for word in key.strip("[]").split("][")]


def _of_generator(gap: evidence.GeneratorGap, archive: Archive) -> Provenance:
    """Return where the state of a generator was: by its name, or, of one of the script's own, by
    its class and its last name.
    """
    base = gap.name.partition(":")[0] if not class_of(gap.name) else gap.name
    part = _same_part(gap.name, archive) or base
    held = [
        one
        for one in archive.entries
        if one.kind == "generator" and (one.name == base or _are_alike(str(one.name), gap.name))
    ]
    keys = tuple(one.key for one in held)
    if gap.restored:
        return Provenance(custody="loaded", part=part, keys=keys, line=gap.line)
    if held:
        return Provenance(custody="not loaded", part=part, keys=keys, file=held[0].file)
    return Provenance(custody="not saved" if archive.entries else "unknown", part=part)


def _same_part(name: str, archive: Archive) -> str:
    known = (part for frame in archive.frames for part in frame.names)
    return next((part for part in known if part == name or _are_alike(part, name)), "")


def _are_alike(one: str, other: str) -> bool:
    """Return whether two names are of one generator, found by way of other variables.

    >>> _are_alike("self.rng (random.Random)", "data.rng (random.Random)")
    True
    """
    if not class_of(one) or class_of(one) != class_of(other):
        return False
    ends = [name.rpartition(" (")[0].rpartition(".")[2] for name in (one, other)]
    return ends[0] == ends[1]


def parts_of(gap: evidence.Gap, archive: Archive) -> list[tuple[str, str, bool]]:
    """Return the parts of the training that a gap is of: what they are called among the names of
    frames, the key in the file, and whether they were loaded.
    """
    found = provenance(gap, archive)
    key = found.keys[0] if found.keys else ""
    if isinstance(gap, evidence.WeightsGap) and gap.own:
        names = dict.fromkeys(name.partition("[")[0] for name in gap.names)
        return [(name, "", False) for name in names]
    if isinstance(gap, evidence.ScheduleGap) and gap.own:
        return [(gap.place, "", False)]
    is_loaded = found.custody == "loaded"
    if isinstance(gap, evidence.CounterGap) or not found.part:
        return []
    if is_loaded and len(found.keys) > 1:  # what was saved is not what trains
        return []
    return [(found.part, key, is_loaded)]
