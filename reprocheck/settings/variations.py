"""Reads the variations of the table of relations, and decides what a run is varied by.

A variation gives the second run another value of what must not matter: the order of a directory,
the hour, the path. Imports errors and the table alone.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal

from reprocheck.errors import SettingsError
from reprocheck.settings.relations import TABLE, rows_of

ALL, DEFAULT, NONE = "all", "default", "none"
SETS = (DEFAULT, ALL, NONE)
"""Words that stand for a set of variations."""
FIRST_RUN = 2
"""The first run that is varied."""
AHEAD = ((397 * 24 + 6) * 60 + 2) * 60
"""Seconds by which the clock of run 2 is ahead: another year, month, day of the week, hour and
minute. That of a later run is ahead by as much or more.
"""
_FOUR_YEARS = 4 * 365 * 24 * 3600
WhyNot = Literal["control", "user", "no other", "no space"]
"""Why a variation that was asked for is not made: a control of the same name is on, the user set
the variable, this machine has no other value, there is no space for a copy.
"""
_LOCALES = ("tr_TR.utf8", "de_DE.utf8", "en_US.utf8", "C.utf8", "POSIX")
_FIELDS = (
    "name",
    "does",
    "depends",
    "default",
    "seen",
    "environment",
    "launch",
    "control",
    "frameworks",
    "limits",
    "source",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Variation:
    """Describe one thing that a run can be varied by.

    does         what is other in a varied run, as one sentence
    depends      what a training depends on that such a run changes, behind *depends on*
    default      whether it belongs to the default set
    seen         whether each use of it by the script is noted, so that a run without such a note
                 cannot depend on it
    environment  environment variables that are set; what stands in braces depends on the run and
                 is not the user's value
    launch       what the launcher does: "" nothing, `path`, `tmpdir`, `home` other folders;
                 `umask`, `stdin` and `processors` are told to the recorder
    control      the control that takes the same source of differences away, "" for none
    frameworks   what is varied, by the name of the framework
    """

    name: str
    does: str
    depends: str
    default: bool
    seen: bool
    environment: Mapping[str, str]
    launch: str
    control: str
    frameworks: Mapping[str, str]
    limits: str
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """The values of all variations in a run: a pure function of a seed and a number of a run.

    Run 2 has the first values, whatever the seed; each later run has values of its own.
    """

    seed: int = 0
    run: int = FIRST_RUN

    @property
    def is_first(self) -> bool:
        """Return whether the run has the first values."""
        return self.run <= FIRST_RUN

    def number(self, what: str, below: int, first: int) -> int:
        """Return a number from 0 to `below` - 1 for what is varied; `first` where that is meant."""
        if self.is_first:
            return first
        digest = sha256(f"{self.seed} {self.run} {what}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % below


@dataclass(frozen=True, kw_only=True, slots=True)
class Varied:
    """What a run is varied by.

    names        the variations, in the order of the table
    environment  the variables that they set
    told         settings for the recorder
    left_out     variations that were asked for and are not made, each with the reason
    """

    names: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    told: Mapping[str, object] = field(default_factory=dict)
    left_out: tuple[tuple[str, WhyNot], ...] = ()

    def has(self, name: str) -> bool:
        """Return whether the run is varied by this."""
        return name in self.names

    def without(self, name: str, why: WhyNot) -> Varied:
        """Return the same without a variation that cannot be made."""
        names = tuple(other for other in self.names if other != name)
        told = {**self.told, "varied": list(names)} if names else {}
        return replace(self, names=names, told=told, left_out=(*self.left_out, (name, why)))


@cache
def table() -> tuple[Variation, ...]:
    """Return all variations."""
    return tuple(Variation(**row) for row in rows_of(TABLE, "variation", _FIELDS))


def variation(name: str) -> Variation:
    """Return the variation with this name. Raises SettingsError if there is none."""
    for row in table():
        if row.name == name:
            return row
    raise SettingsError(
        f"There is no variation {name!r}.",
        f"The variations are {', '.join(row.name for row in table())}, and {ALL}.",
    )


def named(words: Iterable[str]) -> tuple[str, ...]:
    """Return the variations that words stand for, in the order of the table. Raises SettingsError.

    The words are names, `default` and `all`; `none` stands for nothing.
    """
    wanted: set[str] = set()
    for word in words:
        if word == ALL:
            wanted.update(row.name for row in table())
        elif word == DEFAULT:
            wanted.update(row.name for row in table() if row.default)
        elif word != NONE:
            wanted.add(variation(word).name)
    return tuple(row.name for row in table() if row.name in wanted)


def spelled(names: tuple[str, ...]) -> str:
    """Return names as a settings file and a command line write them; a set by its word."""
    words = {named([word]): word for word in SETS}
    return words.get(names, ",".join(names))


def varied(
    names: Collection[str], user: Mapping[str, str], controls: Iterable[str], point: Point
) -> Varied:
    """Return what a run is varied by, where the user's environment and the controls allow it."""
    environment: dict[str, str] = {}
    made: list[str] = []
    left_out: list[tuple[str, WhyNot]] = []
    on = frozenset(controls)
    values = _values(names, user, point)
    for row in map(variation, names):
        why = _why_not(row, user, on, values)
        if why is not None:
            left_out.append((row.name, why))
            continue
        made.append(row.name)
        for variable, pattern in row.environment.items():
            environment[variable] = pattern.format_map(values)
    told = _told(made, point, values["host"]) if made else {}
    return Varied(names=tuple(made), environment=environment, told=told, left_out=tuple(left_out))


def _told(made: list[str], point: Point, host: str) -> dict[str, object]:
    """Return what the recorder is told of the variations."""
    told: dict[str, object] = {
        "varied": made,
        "point": point.number("point", 2**31, first=0),
        "ahead": AHEAD + point.number("clock", _FOUR_YEARS, first=0),
        "host": host,
        "workers": 1 + point.number("workers", 3, first=0),
    }
    if "umask" in made:
        others = _other_umasks()
        told["umask"] = others[point.number("umask", len(others), first=0)]
    if "processors" in made:
        fewer = _processors() - 1
        told["processors"] = 1 + point.number("processors", fewer, first=_processors() // 2 - 1)
    return told


def _why_not(
    row: Variation, user: Mapping[str, str], controls: frozenset[str], values: Mapping[str, str]
) -> WhyNot | None:
    if row.control and row.control in controls:
        return "control"
    seeds = row.name == "hash-seed" and user.get("PYTHONHASHSEED", "random") != "random"
    if seeds or (row.name == "memory" and "MALLOC_PERTURB_" in user):
        return "user"
    if row.name == "locale" and not values["locale"]:
        return "no other"
    if row.name == "processors" and _processors() < 2:
        return "no other"
    return None


def _values(names: Collection[str], user: Mapping[str, str], point: Point) -> dict[str, str]:
    """Return what the placeholders of variables stand for.

    The locales of the machine are asked for where one is varied alone: a program lists them.
    """
    threads = [number for number in ("1", "2", "3", "4") if number != user.get("OMP_NUM_THREADS")]
    locales = _other_locales(user) if "locale" in names else []
    east = point.number("timezone", 26, first=25) - 11
    suffix = "" if point.is_first else f"-{point.number('name', 2**16, first=0):x}"
    return {
        "hash": str(1 + point.number("hash", 2**32 - 1, first=4000)),
        "host": f"varied-host{suffix}",
        "user": f"varied-user{suffix}",
        "zone": f"<{east:+03d}>{-east:+d}",
        "columns": str(20 + point.number("columns", 200, first=23)),
        "lines": str(5 + point.number("lines", 60, first=12)),
        "memory": str(1 + point.number("memory", 254, first=191)),
        "threads": threads[point.number("threads", len(threads), first=0)],
        "locale": locales[point.number("locale", len(locales), first=0)] if locales else "",
    }


def _other_locales(user: Mapping[str, str]) -> list[str]:
    """Return the locales of this machine that are not the user's."""
    import subprocess  # not at the start of every command

    try:
        listed = subprocess.run(
            ["locale", "-a"], capture_output=True, text=True, timeout=5, check=True
        ).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return []
    theirs = next(filter(None, map(user.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C.utf8")
    spelled = _spelled(theirs)
    return [one for one in _LOCALES if one in listed and _spelled(one) != spelled]


def _spelled(locale: str) -> str:
    return locale.lower().replace("-", "")


def _other_umasks() -> list[int]:
    before = os.umask(0o077)
    os.umask(before)
    return [mask for mask in (0o077, 0o022, 0o027, 0o002) if mask != before]


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0))


CACHES = (
    ".cache/huggingface",
    ".cache/torch",
    ".cache/kagglehub",
    ".cache/modelscope",
    ".cache/matplotlib",
    ".cache/uv",
    ".cache/pip",
    ".local/bin",
    ".local/lib",
    ".local/share/uv",
    ".keras/datasets",
    ".keras/models",
    ".mscache",
    ".conda",
    ".netrc",
    ".gitconfig",
    ".ssh",
    "nltk_data",
    "scikit_learn_data",
    "tensorflow_datasets",
)
"""What a home folder holds that was downloaded or installed, and no result of an earlier run."""


def make_home(folder: Path, user: Mapping[str, str]) -> None:
    """Make an empty home folder with links to what was downloaded or installed."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    theirs = user.get("HOME", "")
    if not theirs:
        return
    for name in CACHES:
        if (Path(theirs) / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).symlink_to(Path(theirs) / name)
