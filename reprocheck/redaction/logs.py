"""The logs of runs: masked in bounded memory, and fast where there is nothing to mask.

The patterns are slow, so they are tried on few lines alone: on those in which one of the words
stands that every pattern needs (`Signs`, which looks at all bytes of a block at once), and of lines
that are the same but for their digits, only until one of them was found to hold nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from reprocheck.child.reprocheck_child.shared.masking import (
    CREDENTIALS,
    END_OF_AUTHORITY,
    IN_PATH,
    LONGEST_AUTHORITY,
    may_be_in_path,
    needles,
)
from reprocheck.child.reprocheck_child.shared.redaction import GOES_ON, SIGNS, Redactor
from reprocheck.files.atomic import replacing
from reprocheck.files.limits import NotRegularError, open_regular
from reprocheck.redaction.signs import SMALL, Signs, lines

_LINE = 1 << 20

_BLOCK = 1 << 18
_NEAR = 4096
"""Bytes at the end of a line without end that are searched for a place to cut."""
_MOST_SHAPES = 100_000
_DENSE, _FEW_SHAPES = 200, 50
"""Bytes for a sign in a block of which all lines are looked at; the most shapes that they have."""
_SHAPE = bytes.maketrans(b"0123456789", b"1" * 10)
"""No pattern asks which digit it is, but where the one that is written here is among them."""
_BEHIND_PATH = r"(?![^\W_]|[_-]|\.[^\W_])"
_GOES_ON = tuple(GOES_ON.encode()[place : place + 1] for place in range(len(GOES_ON)))


def mask_log(path: Path, names: tuple[str, str, str], known: Sequence[str] = ()) -> int:
    """Take names and secrets out of a log, in place; `known` ones wherever they stand.

    Returns how many secrets were masked.
    """
    try:
        with open_regular(path) as source, replacing(path) as target:
            return mask_stream(source, target, *names, known)
    except (FileNotFoundError, NotADirectoryError, NotRegularError):
        # the script removed or replaced it
        return 0


def mask_stream(
    source: BinaryIO, target: BinaryIO, home: str, user: str, host: str, known: Iterable[str] = ()
) -> int:
    """Copy a log, masked line by line; a line of more than 1 MiB is taken in parts.

    Memory stays under 50 MB.

    `known`: secrets that are masked wherever they stand (`known_secrets`).
    Returns how many secrets and addresses were masked; names of home, user and host are not
    counted.
    """
    log = _Log(_as_latin(home, user, host), _as_latin(*known))
    rest = b""
    while True:
        block = source.read(_BLOCK)
        data = rest + block
        cut = _whole_lines(data) if block else len(data)
        part, rest = data[:cut], data[cut:]
        target.writelines(log.masked(part))
        if not block:
            return log.count


class _Log:
    """One log, read block by block. `names`, `known`: texts to mask, decoded as Latin-1."""

    def __init__(self, names: tuple[str, ...], known: tuple[str, ...]) -> None:
        found = needles(*names)
        homes = (name for name, _, as_path in found if as_path and may_be_in_path(name))
        # first: a name may be a part of the path
        self._names = [(_in_path(home), IN_PATH) for home in homes]
        self._names += [(_standing_alone(name, as_path), shown) for name, shown, as_path in found]
        wanted = [*(name for name, _, _ in found), "://", *known]
        self._wanted = [name.encode("latin-1") for name in wanted]
        self._signs = Signs(SIGNS, wanted)
        self._redactor = Redactor(known)
        self._credentials = 0
        self._empty: set[bytes] = set()
        self._holding: set[bytes] = set()
        """Lines with a 1 for each digit: those that hold nothing, whatever their digits are; those
        that may hold something.
        """
        self._repeats = False
        """Whether the last block was made of lines of `_empty`: the next one may be, too."""

    @property
    def count(self) -> int:
        """Return how many secrets were masked so far."""
        return self._redactor.count + self._credentials

    def masked(self, data: bytes) -> Iterator[bytes]:
        """Mask a block of whole lines."""
        if len(data) < SMALL:
            yield self._by_patterns(self._without_names(data))
            return
        self._repeats = self._repeats and self._is_known_empty(data)
        if self._repeats:
            yield data
            return
        signs = self._signs.find(data)
        if not len(signs.places) and not self._redactor.in_key:
            yield data
            return
        shapes = data.translate(_SHAPE)
        if not signs.named and self._are_empty(shapes, len(signs.places)):
            self._repeats = True
            yield data
            return
        begins, numbers = lines(data, signs.places)
        if signs.named:
            data = self._without_names(data)
            begins, _ = lines(data, signs.places[:0])  # what stands for a name makes no sign
            shapes = data.translate(_SHAPE)
        bounds = zip(begins[numbers].tolist(), begins[numbers + 1].tolist(), strict=True)
        holding = [
            number
            for number, (start, end) in enumerate(bounds)
            if (shape := shapes[start:end]) not in self._empty and not self._holds_nothing(shape)
        ]
        done = 0
        for start, end in self._to_look_at(data, begins.tolist(), numbers[holding].tolist()):
            yield data[done:start]
            yield self._by_patterns(data[start:end])
            done = end
        yield data[done:]

    def _is_known_empty(self, data: bytes) -> bool:
        """Return whether all lines are of shapes that hold nothing.

        Much faster than a search for signs, where these stand in each line.
        """
        if any(name in data for name in self._wanted):
            return False
        return self._empty.issuperset(data.translate(_SHAPE).splitlines(keepends=True))

    def _are_empty(self, shapes: bytes, signs: int) -> bool:
        """Return whether a block is made of few shapes of lines that all hold nothing.

        It has many signs. All lines are asked at once, which is faster than line by line.
        """
        if self._redactor.in_key or signs * _DENSE < len(shapes):
            return False
        new = {*shapes.splitlines(keepends=True)} - self._empty
        return len(new) <= _FEW_SHAPES and all(map(self._holds_nothing, new))

    def _to_look_at(
        self, data: bytes, begins: list[int], numbers: list[int]
    ) -> Iterator[tuple[int, int]]:
        """Yield where lines stand that may hold a secret, each with those that it goes on in.

        Lines that follow each other together, and all lines of a private key.
        """
        end = len(begins) - 1
        first = behind = 0
        for number in [*numbers, end]:
            if number > behind or number == end:
                if first < behind:
                    yield begins[first], begins[behind]
                while self._redactor.in_key and behind < number:  # its lines have no signs
                    behind += 1
                    yield begins[behind - 1], begins[behind]
                first = number
            if behind <= number < end:
                behind = number + 1
                while behind < end and _goes_on(data[begins[behind - 1] : begins[behind]]):
                    behind += 1

    def _holds_nothing(self, shape: bytes) -> bool:
        """Return whether lines of a shape hold no secret, whatever their digits are."""
        if shape in self._holding or len(self._empty) + len(self._holding) > _MOST_SHAPES:
            return False
        text, redactor = shape.decode("latin-1"), Redactor()
        if redactor.text(text) != text or redactor.in_key or _goes_on(shape):
            self._holding.add(shape)
            return False
        self._empty.add(shape)
        return True

    def _by_patterns(self, data: bytes) -> bytes:
        return self._redactor.text(data.decode("latin-1")).encode("latin-1")

    def _without_names(self, data: bytes) -> bytes:
        """Return the result of `masking.mask` for a whole block at once."""
        text, credentials = _CREDENTIALS.subn(f"://{CREDENTIALS}", data.decode("latin-1"))
        self._credentials += credentials
        for name, shown in self._names:
            text = name.sub(shown, text)
        return self._redactor.without_known(text).encode("latin-1")


_CREDENTIALS = re.compile(rf"://[^{re.escape(END_OF_AUTHORITY)}]{{1,{LONGEST_AUTHORITY - 1}}}(?=@)")


def _standing_alone(name: str, as_path: bool) -> re.Pattern[str]:
    """Return a name where it is a whole word; a path where it is no end of a longer one.

    What may not stand before it is asked last: a pattern that begins with text is found much
    faster.
    """
    name = re.escape(name)
    behind, before = r"(?![^\W_]|_)", rf"(?<![^\W_]{name})"
    if as_path:
        behind, before = _BEHIND_PATH, rf"{before}(?<![_.~-]{name})(?<!:/{name})"
    return re.compile(name + before + behind)


def _in_path(home: str) -> re.Pattern[str]:
    """Return the pattern of a home folder within a longer path."""
    home = re.escape(home)
    return re.compile(rf"{home}(?<=[^\W_]{home}){_BEHIND_PATH}")


def _whole_lines(data: bytes) -> int:
    """Return the end of the last complete line that does not continue on the next one.

    If a line is too long, a position within the line.
    """
    end = _line_end(data, len(data))
    complete = end
    while complete and _goes_on(data[max(0, complete - _NEAR) : complete]):
        complete = _line_end(data, complete - 1)
    if len(data) <= _LINE:
        return complete
    if end:
        return complete or end
    # an endless line
    seam = max(data.rfind(mark, len(data) - _NEAR) for mark in (b" ", b"\t", b","))
    if seam < 0:
        return len(data)
    return seam + 1


def _line_end(data: bytes, before: int) -> int:
    """Return the end of the last line that ends before a position; 0 if there is none."""
    return max(data.rfind(b"\n", 0, before), data.rfind(b"\r", 0, before)) + 1


def _goes_on(line: bytes) -> bool:
    return line.rstrip().endswith(_GOES_ON)


def _as_latin(*names: str) -> tuple[str, ...]:
    """Return names as they look in text that was decoded from UTF-8 bytes as Latin-1."""
    return tuple(name.encode("utf-8", "surrogateescape").decode("latin-1") for name in names)
