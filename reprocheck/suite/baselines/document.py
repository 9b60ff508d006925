"""Baselines as a text file that can live in git: JSON, a value a line, every bit.

A line of a series is `ITERATION STEP VALUE BITS`: `-` where the tracker gave no step; the value as
the shortest decimal number that restores the double, and in hexadecimal. Behind it may stand `:N`,
the dtype in the list of dtypes where there are several, and `=N/D`, the value in full where a
double does not hold it. Version 1 had no BITS.
Targets, keys, ranks and series stand in a fixed order, so a changed value is a changed line.
"""

from __future__ import annotations

import math
import re
import struct
from array import array
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path

import msgspec

from reprocheck.files.atomic import replacing
from reprocheck.model import LossSeries, Series
from reprocheck.suite import keys
from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.curves import pack, unpack
from reprocheck.suite.model import Baseline, Key, RankSeries

_FORMAT = "reprocheck baselines"
_VERSION = 2
_MERGE = re.compile(rb"^(?:<{7}|={7}|>{7}|\|{7})", re.MULTILINE)
_TARGET = re.compile(rb'"target"\s*:\s*"((?:[^"\\]|\\.)*)"')
_BYTE = re.compile(r"byte (\d+)")
_NO_STEP = "-"
_BITS = struct.Struct("<d")
_NAN = _BITS.pack(math.nan)


class _Series(msgspec.Struct, kw_only=True, frozen=True):
    rank: int
    name: str
    by: str
    dtypes: tuple[str, ...]
    repeats: bool
    rounded: bool
    steady: int | None = None
    values: tuple[str, ...]


class Replaced(msgspec.Struct, kw_only=True, frozen=True):
    """Say for a reviewer what a baseline replaces; nothing reads it back."""

    night: str
    when: datetime
    who: str
    why: str
    differences: tuple[str, ...] = ()


class Entry(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """One baseline, as the file has it."""

    target: str
    why: str
    who: str
    when: datetime
    bitwise: bool
    night: str
    commit: str
    key: dict[str, str]
    environment: dict[str, str] = {}
    replaces: Replaced | None = None
    series: tuple[_Series, ...]


class _Document(msgspec.Struct, kw_only=True, frozen=True):
    format: str
    version: int
    baselines: tuple[msgspec.Raw, ...]


def is_ours(content: bytes) -> bool:
    """Return whether a file may be one that `export` wrote."""
    return f'"{_FORMAT}"'.encode() in content[:200]


def export(baselines: Iterable[Baseline]) -> bytes:
    """Return the content of a baseline file, from baselines in any order.

    Raises CurvesError if the packed curves of a baseline are damaged.
    """
    ordered = sorted(baselines, key=attrgetter("target", "key.digest"))
    return content_of(map(entry_of, ordered))


def content_of(entries: Iterable[Entry]) -> bytes:
    """Return the content of a file with these entries, in their order."""
    raw = tuple(msgspec.Raw(msgspec.json.encode(entry)) for entry in entries)
    document = _Document(format=_FORMAT, version=_VERSION, baselines=raw)
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def write(content: bytes, file: Path) -> None:
    """Write an exported file atomically; an earlier export is replaced.

    Raises BaselineError if a file that is no export stands there, or it cannot be written.
    """
    try:
        if file.exists() and not is_ours(file.read_bytes()):
            raise BaselineError(
                f"{file} is not a file of baselines, and is left as it is.", "Name another file."
            )
        with replacing(file) as raw:
            raw.write(content)
    except OSError as error:
        raise BaselineError(
            f"{file} cannot be written: {error.strerror or error}.", "Name another file."
        ) from None


def read(content: bytes, shown: str) -> tuple[Baseline, ...]:
    """Return the baselines in a file that `export` wrote; `shown`: its name for people.

    Raises BaselineError if it is damaged, or of a newer version.
    """
    return tuple(baseline_of(entry, shown) for entry in entries(content, shown))


def entries(content: bytes, shown: str) -> tuple[Entry, ...]:
    """Return the entries of a file, as `read` does; their values are not looked at."""
    marked = _MERGE.search(content)
    if marked is not None:
        where = _where(content, marked.start())
        raise _damaged(shown, f"{where}: a merge left its marks there")
    try:
        document = msgspec.json.decode(content, type=_Document)
    except (msgspec.MsgspecError, ValueError) as error:
        byte = _BYTE.search(str(error))
        where = f"{_where(content, int(byte[1]))}: " if byte else ""
        raise _damaged(shown, f"{where}{error}") from None
    if document.version > _VERSION:
        raise BaselineError(
            f"{shown} was written by a newer reprocheck.", "Update reprocheck, and try again."
        )
    found: dict[tuple[str, str], Entry] = {}
    for number, raw in enumerate(document.baselines, start=1):
        try:
            entry = msgspec.json.decode(raw, type=Entry)
        except msgspec.MsgspecError as error:
            name = _TARGET.search(bytes(raw))
            which = f"target {name[1].decode()!r}" if name else f"baseline {number}"
            raise _damaged(shown, f"{which}: {error}") from None
        place = entry.target, Key(facts=entry.key).digest
        if place in found:
            raise _damaged(shown, f"target {entry.target!r} has two baselines of one key")
        found[place] = entry
    return tuple(found.values())


def _damaged(shown: str, why: str) -> BaselineError:
    return BaselineError(
        f"{shown} cannot be read: {why}.",
        "Correct the file, or take it from the last commit: git checkout -- FILE",
    )


def _where(content: bytes, byte: int) -> str:
    """Return the target and the line of a place in a file: `target 'small': line 12`."""
    before = content[:byte]
    number = 1 + before.count(b"\n")
    line = f"line {number}"
    names = _TARGET.findall(before)
    return f"target {names[-1].decode('utf-8', 'replace')!r}: {line}" if names else line


def entry_of(baseline: Baseline) -> Entry:
    """Return the entry of a baseline. Raises CurvesError if its packed curves are damaged."""
    return Entry(
        target=baseline.target,
        why=baseline.why,
        who=baseline.who,
        when=datetime.fromtimestamp(baseline.when, UTC),
        bitwise=baseline.bitwise,
        night=baseline.night,
        commit=baseline.commit,
        key=dict(sorted(baseline.key.facts.items())),
        environment=dict(sorted(baseline.environment.items())),
        series=tuple(map(_series, unpack(baseline.curves))),
    )


def baseline_of(entry: Entry, shown: str) -> Baseline:
    """Return the baseline of an entry; `shown`: the name of its file. Raises BaselineError."""
    try:
        curves = pack(map(_rank_series, entry.series))
    except (ValueError, IndexError, OverflowError, struct.error) as error:
        raise _damaged(shown, f"target {entry.target!r}: {error}") from None
    return Baseline(
        target=entry.target,
        key=Key(facts=keys.masked(entry.key)),
        curves=curves,
        why=entry.why,
        who=entry.who,
        when=entry.when.timestamp(),
        bitwise=entry.bitwise,
        night=entry.night,
        commit=entry.commit,
        environment=keys.masked(entry.environment),
    )


def _series(series: RankSeries) -> _Series:
    return _Series(
        rank=series.rank,
        name=series.series.name,
        by=series.series.by,
        dtypes=series.series.numbers.dtypes,
        repeats=series.repeats,
        rounded=series.rounded,
        steady=series.steady,
        values=tuple(_line(series.series, number) for number in range(len(series.series))),
    )


def _line(series: Series, index: int) -> str:
    """Return one value of a series as a line of the file. `index`: its position, from 0."""
    numbers = series.numbers
    step = _text(series.steps[index]).removesuffix(".0")
    if step == "nan":
        step = _NO_STEP
    value = numbers.values[index]
    words = [str(series.iterations[index]), step, _text(value)]
    if math.isfinite(value):
        words.append(value.hex())
    if len(numbers.dtypes) > 1:
        words.append(f":{numbers.dtype_of[index]}")
    if index in numbers.exact:
        words.append(f"={numbers.exact[index]}")
    return " ".join(words)


def _text(value: float) -> str:
    """Return a double as text; a NaN with an unusual payload includes the payload."""
    bits = _BITS.pack(value)
    if value == value or bits == _NAN:
        return repr(value)
    return f"nan:{bits.hex()}"


def _double(text: str) -> float:
    if not text.startswith("nan:"):
        return float(text)
    value: float = _BITS.unpack(bytes.fromhex(text.removeprefix("nan:")))[0]
    return value


def _rank_series(one: _Series) -> RankSeries:
    rows = [line.split() for line in one.values]
    short = next((row for row in rows if len(row) < 3), None)
    if short is not None:
        raise ValueError(f"{one.name}: {' '.join(short)!r} is not ITERATION STEP VALUE")
    for row in rows:
        bits = _bits(row)
        if bits and float.fromhex(bits) != _double(row[2]):
            raise ValueError(f"{one.name}: {row[2]} is not {bits}")
    dtypes = [int(_behind(row, ":") or 0) for row in rows]
    if max(dtypes, default=-1) >= len(one.dtypes):
        raise ValueError(f"{one.name} has fewer dtypes than its values name")
    numbers = LossSeries(
        values=array("d", [_double(row[2]) for row in rows]),
        dtype_of=array("B", dtypes),
        dtypes=one.dtypes,
        ends=array("q", range(1, len(rows) + 1)),
        exact={index: exact for index, row in enumerate(rows) if (exact := _behind(row, "="))},
    )
    series = Series(
        name=one.name,
        by=one.by,
        numbers=numbers,
        iterations=array("q", [int(row[0]) for row in rows]),
        steps=array("d", [math.nan if row[1] == _NO_STEP else _double(row[1]) for row in rows]),
    )
    return RankSeries(
        rank=one.rank,
        series=series,
        repeats=one.repeats,
        rounded=one.rounded,
        steady=one.steady,
    )


def _behind(row: Sequence[str], mark: str) -> str:
    """Return what follows a mark (`:` or `=`) in the words of a line; "" if the mark is absent."""
    return next((word for word in row[3:] if word.startswith(mark)), "").removeprefix(mark)


def _bits(row: Sequence[str]) -> str:
    """Return the value in hexadecimal among the words of a line; "" if it is absent."""
    return next((word for word in row[3:] if word.startswith(("0x", "-0x"))), "")
