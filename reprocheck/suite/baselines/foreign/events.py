"""Scalars of TensorBoard's event files, read without TensorBoard.

A file is a row of records: length (8 bytes), masked CRC-32C of the length (4), the event, masked
CRC-32C of the event (4), all little endian. An event is a protocol buffer message; of it the step,
and of the values of its summary the tag and the number are read: `simple_value`, or a tensor with
one element. Sources: `tensorflow/core/lib/io/record_writer.h`, `util/event.proto`,
`framework/summary.proto` and `framework/tensor.proto` of TensorFlow.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reprocheck.files.limits import MIB, whole
from reprocheck.suite.baselines.foreign.points import Points

Field = int | bytes
PATTERN = "*tfevents*"
LARGEST = 1024 * MIB
"""Bytes of one file: TensorBoard's own writers begin a new one long before."""
_HEAD, _CHECK = struct.Struct("<QI"), struct.Struct("<I")
_STEP, _SUMMARY = 2, 5
_VALUE = 1
_TAG, _SIMPLE, _TENSOR = 1, 2, 8
_CONTENT, _FLOATS, _DOUBLES = 4, 5, 6
_DTYPE = 1
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")
_UNPACKED: Mapping[Field, struct.Struct] = {1: _FLOAT, 2: _DOUBLE}
"""DT_FLOAT and DT_DOUBLE, in `tensor_content`."""
_POLYNOMIAL = 0x82F63B78
"""Of CRC-32C (Castagnoli), reflected."""
_MASK = 0xA282EAD8
_LONGEST_VARINT = 10
"""Bytes of a number of variable length with 64 bits."""


def files_of(path: Path) -> list[Path]:
    """The event files in a folder and below it; the file itself of a file."""
    if path.is_file():
        return [path]
    return sorted(found for found in path.rglob(PATTERN) if found.is_file())


def read(files: Sequence[Path]) -> Iterator[Points]:
    """The scalars of all files, by tag: of several values at a step the last.

    The last record may be cut short: its writer was ended. Raises ValueError where a file is
    damaged; OSError.
    """
    scalars: dict[str, dict[float, float]] = defaultdict(dict)
    double: set[str] = set()
    for file in files:
        for event in _records(whole(file, LARGEST)):
            for tag, step, value, is_double in _scalars(event):
                scalars[tag][step] = value
                if is_double:
                    double.add(tag)
    for tag, of_tag in scalars.items():
        steps = sorted(of_tag)
        yield Points(
            name=tag,
            steps=tuple(steps),
            values=tuple(of_tag[step] for step in steps),
            precision="double" if tag in double else "single",
        )


def _records(content: bytes) -> Iterator[bytes]:
    place = 0
    while place + _HEAD.size <= len(content):
        length, check = _HEAD.unpack_from(content, place)
        start = place + _HEAD.size
        if check != _masked_crc(content[place : place + 8]):
            raise ValueError(f"the record at byte {place} is damaged")
        place = start + length + _CHECK.size
        if place > len(content):
            return
        event = content[start : start + length]
        if _CHECK.unpack_from(content, start + length)[0] != _masked_crc(event):
            raise ValueError(f"the record at byte {start} is damaged")
        yield event


def _scalars(event: bytes) -> Iterator[tuple[str, float, float, bool]]:
    """Tag, step and value of each scalar in an event, and whether it is of double precision."""
    step, summary = 0, b""
    for number, value in _fields(event):
        if number == _STEP and isinstance(value, int):
            step = value
        elif number == _SUMMARY and isinstance(value, bytes):
            summary = value
    for number, value in _fields(summary):
        if number == _VALUE and isinstance(value, bytes):
            yield from _scalar(dict(_fields(value)), step)


def _scalar(value: dict[int, Field], step: int) -> Iterator[tuple[str, float, float, bool]]:
    tag = _bytes(value, _TAG).decode("utf-8", "replace")
    simple = _bytes(value, _SIMPLE)
    if len(simple) == _FLOAT.size:
        yield tag, float(step), _FLOAT.unpack(simple)[0], False
        return
    tensor = dict(_fields(_bytes(value, _TENSOR)))
    dtype = tensor.get(_DTYPE, 0)
    for field, kind in ((_FLOATS, _FLOAT), (_DOUBLES, _DOUBLE), (_CONTENT, _UNPACKED.get(dtype))):
        content = _bytes(tensor, field)
        if kind is not None and len(content) == kind.size:
            yield tag, float(step), kind.unpack(content)[0], kind is _DOUBLE
            return


def _bytes(message: dict[int, Field], number: int) -> bytes:
    """A field that is no number; empty where it is not there, or is one."""
    value = message.get(number)
    if isinstance(value, bytes):
        return value
    return b""


def _fields(message: bytes) -> Iterator[tuple[int, Field]]:
    """The fields of a message: number and value, an integer where it is a varint, else bytes.

    Raises ValueError where it is no message.
    """
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == 0:
            value, place = _varint(message, place)
            yield key >> 3, value
            continue
        size = {1: 8, 5: 4}.get(kind)
        if kind == 2:
            size, place = _varint(message, place)
        if size is None or place + size > len(message):
            raise ValueError("an event in it is no message of TensorBoard's")
        yield key >> 3, message[place : place + size]
        place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """A number of variable length, and where the next field begins."""
    value = 0
    for number, byte in enumerate(message[place : place + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            return value, place + number + 1
    raise ValueError("an event in it has a number without an end")


def _table() -> list[int]:
    made = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
        made.append(byte)
    return made


_OF_BYTE = _table()


def _masked_crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _OF_BYTE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF
