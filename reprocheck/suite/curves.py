"""The series of a check as a few kilobytes, bit for bit: what history and baselines keep.

A packed curve is four bytes of a name, `RCC1`, and behind them, compressed by zlib: the length of
the header (4 bytes, little endian), the header as JSON (rank, name, dtypes and counts of each
series), and the columns of all series one after the other. Neighbours in a column share most of
their bits, so each number is written as what it differs by from the one before it, and the bytes
of the same significance of all numbers stand together.
"""

from __future__ import annotations

import json
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from reprocheck.errors import UsageError
from reprocheck.model import LOSS_SERIES, LossSeries, Series
from reprocheck.redaction import Redaction
from reprocheck.suite.check_report import CheckReport, SeriesRow
from reprocheck.suite.model import RankSeries
from reprocheck.suite.surface import is_of_a_machine

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOSS_OF_SCRIPT = "script"
"""`Series.by` of a series `loss` that the script reported through `reprocheck.log`: the loss that
the verdict is about has the name `loss` and no `by`.
"""
_NAME = b"RCC1"
_LENGTH = 4
LARGEST = 1 << 28
"""No curves are larger than this once they are unpacked, in bytes: ten million values. Damage may
not fill the memory.
"""
_COLUMNS = {"values": 8, "dtype_of": 1, "iterations": 8, "steps": 8}
"""The columns of a series, in the order in which they are written, and bytes of a number."""
_COUNTS_UP = "iterations"
"""The column whose numbers count up: differences are kept of it. Of the others it is the bits that
changed, which is exact for every double.
"""


class CurvesError(UsageError):
    """Report that packed curves cannot be read: damaged, cut short, or of a newer version."""


Natural = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Header:
    """Hold the part of the header that describes one series."""

    rank: Natural
    name: str
    by: str
    repeats: bool
    rounded: bool
    dtypes: tuple[str, ...]
    exact: Mapping[Natural, str]
    count: Natural
    steady: Natural | None = None


def of_check(
    recorded: Iterable[tuple[int, list[Series]]], report: CheckReport
) -> tuple[RankSeries, ...]:
    """Return every series of run 1, rank by rank, with what the report says of it.

    recorded  for each rank: its series, the losses first, then what the training reported
    """
    rows = {(row.name, row.by): row for row in report.series}
    shown = Redaction("folder").name
    found: list[RankSeries] = []
    for rank, (losses, *others) in recorded:
        found.append(_of_losses(rank, losses, report))
        for series in others:
            # where two series have one name, the report has it with the tracker's before it
            long = shown(f"{series.by or 'script'}:{series.name}")
            name, by = shown(series.name), shown(series.by)
            found.append(_of_reported(rank, series, rows.get((name, by)) or rows.get((long, by))))
    return tuple(found)


def _of_losses(rank: int, losses: Series, report: CheckReport) -> RankSeries:
    steady = None
    if report.first_divergence is not None:
        steady = bisect_left(losses.iterations, report.first_divergence)
    return RankSeries(rank=rank, series=losses, repeats=report.bitwise.equal is True, steady=steady)


def _of_reported(rank: int, series: Series, row: SeriesRow | None) -> RankSeries:
    """Return a reported series. `row`: the entry of report.json on this series."""
    if (series.name, series.by) == (LOSS_SERIES, ""):
        series = replace(series, by=LOSS_OF_SCRIPT)
    steady = None
    if row is not None and row.is_unequal and row.first_outside is not None:
        steady = row.first_outside.number - 1
    repeats = row is None or not row.is_unequal
    return RankSeries(rank=rank, series=series, repeats=repeats, steady=steady)


def without_clocks(series: Iterable[RankSeries]) -> tuple[RankSeries, ...]:
    """Return the series without those of a clock or the machine.

    Such series (times, memory) differ in every run and are not compared.
    """
    return tuple(one for one in series if not is_of_a_machine(one.series.name))


def pack(series: Iterable[RankSeries]) -> bytes:
    """Pack series into bytes, from which `unpack` restores every bit, including NaN payloads."""
    of_ranks = tuple(series)
    headers = []
    for of_rank in of_ranks:
        numbers = of_rank.series.numbers
        header = _Header(
            rank=of_rank.rank,
            name=of_rank.series.name,
            by=of_rank.series.by,
            repeats=of_rank.repeats,
            rounded=of_rank.rounded,
            dtypes=numbers.dtypes,
            exact=numbers.exact,
            count=len(of_rank.series),
            steady=of_rank.steady,
        )
        headers.append(asdict(header))
    written = json.dumps(headers, separators=(",", ":")).encode()
    columns = chain.from_iterable(_written(of_rank.series) for of_rank in of_ranks)
    body = b"".join((len(written).to_bytes(_LENGTH, "little"), written, *columns))
    return _NAME + zlib.compress(body, 9)


def unpack(packed: bytes, only: tuple[str, str] | None = None) -> tuple[RankSeries, ...]:
    """Return the series from bytes that `pack` made; none if the bytes are empty.

    only  the name and `by` of the series to read: the others cost nothing then

    Raises CurvesError if the bytes are damaged, or of another version.
    """
    if not packed:
        return ()
    if packed[: len(_NAME)] != _NAME:
        raise CurvesError(
            "these are no packed curves of this version of reprocheck",
            "read them with the version that wrote them, or a newer one",
        )
    body = _decompressed(packed[len(_NAME) :])
    try:
        return tuple(_read(body, only))
    except (ValueError, OverflowError, RecursionError) as error:
        raise _damaged(str(error)) from error


def _damaged(why: str) -> CurvesError:
    return CurvesError(
        f"packed curves are damaged ({why})",
        "restore the history from a copy, or record the target again",
    )


def _decompressed(compressed: bytes) -> bytes:
    stream = zlib.decompressobj()
    try:
        body = stream.decompress(compressed, LARGEST)
    except zlib.error as error:
        raise _damaged(str(error)) from error
    if not stream.eof or stream.unused_data:
        raise _damaged("they do not end where they should")
    return body


def _written(series: Series) -> Iterator[bytes]:
    numbers = series.numbers
    columns: dict[str, array[Any]] = {
        "values": numbers.values,
        "dtype_of": numbers.dtype_of,
        "iterations": series.iterations,
        "steps": series.steps,
    }
    for name, size in _COLUMNS.items():
        yield _planes(columns[name], name, size)


def _planes(column: array[Any], name: str, size: int) -> bytes:
    """Return a column as bytes that compress well.

    They are the first number and what each differs by from the one before it: all first bytes, then
    all second bytes, and so on.
    """
    import numpy as np

    if not column:
        return b""
    bits = np.array(np.frombuffer(column, dtype=f"u{size}"), dtype=f"<u{size}")
    before = np.concatenate([np.zeros(1, dtype=bits.dtype), bits[:-1]])
    changed = bits - before if name == _COUNTS_UP else bits ^ before
    planes = changed.view(np.uint8).reshape(len(bits), size).T
    return bytes(planes.tobytes())


def _read(body: bytes, only: tuple[str, str] | None) -> Iterator[RankSeries]:
    """Yield the series of an unpacked body, one after the other."""
    start = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    written = json.loads(body[_LENGTH:start])
    for header in msgspec.convert(written, tuple[_Header, ...], str_keys=True):
        if only not in (None, (header.name, header.by)):
            start += header.count * sum(_COLUMNS.values())
            continue
        columns = {}
        for name, size in _COLUMNS.items():
            end = start + header.count * size
            columns[name] = _column(body[start:end], name, size, header.count)
            start = end
        yield _series(header, columns)
    if start != len(body):
        raise ValueError("there are more bytes than numbers")


def _column(planes: bytes, name: str, size: int, count: int) -> bytes:
    """Return the bytes of a column in this machine's byte order, from its byte planes."""
    import numpy as np

    if len(planes) != count * size:
        raise ValueError("there are fewer bytes than numbers")
    raw = np.frombuffer(planes, dtype=np.uint8).reshape(size, count).T
    changed: NDArray[np.unsignedinteger[Any]] = np.ascontiguousarray(raw).view(f"<u{size}")
    accumulate = np.add.accumulate if name == _COUNTS_UP else np.bitwise_xor.accumulate
    bits = accumulate(changed.ravel(), dtype=f"<u{size}")
    return bytes(bits.astype(f"=u{size}").tobytes())


def _series(header: _Header, columns: Mapping[str, bytes]) -> RankSeries:
    if max(columns["dtype_of"], default=-1) >= len(header.dtypes):
        raise ValueError("a value has no dtype")
    numbers = LossSeries(
        values=array("d", columns["values"]),
        dtype_of=array("B", columns["dtype_of"]),
        dtypes=tuple(header.dtypes),
        ends=array("q", range(1, header.count + 1)),
        exact=dict(header.exact),
    )
    series = Series(
        name=header.name,
        by=header.by,
        numbers=numbers,
        iterations=array("q", columns["iterations"]),
        steps=array("d", columns["steps"]),
    )
    return RankSeries(
        rank=header.rank,
        series=series,
        repeats=header.repeats,
        rounded=header.rounded,
        steady=header.steady,
    )
