"""Read a file as source code: bytes to text to syntax tree and outline, from .py and .ipynb.

Any problem with a file raises `UnreadableError` with the reason.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import stat
import sys
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter
from pathlib import Path

import msgspec

from reprocheck.files.source_text import Cell, UnreadableError, code_cells, split
from reprocheck.scan.names import absolute

LARGEST = 32 * 1024 * 1024
"""Bytes; a larger file is data rather than code."""

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_PYTHON_2 = re.compile(
    r"^\s*(?:print\s+[\"'\w%]|exec\s+[\"'\w]|raise\s+\w+\s*,|except\s+[\w.()]+\s*,\s*\w+\s*:)|<>|\b0[0-7]+L?\b|\bur[\"']|`[^`]+`"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """The text of a file that is parsed: the file, or the joined code cells of a notebook.

    lines     without line breaks
    cells     the code cells of a notebook; empty for other files
    """

    text: str
    lines: tuple[str, ...]
    cells: tuple[Cell, ...] = ()


class Source:
    """A file as source code, which is read and parsed at the first access.

    A tree takes about forty times the memory of its text. `forget` frees both; a later access reads
    and parses the file again.

    shown     the path as it is printed
    content   returns the bytes of the file, or raises UnreadableError
    """

    def __init__(self, *, path: Path, shown: str, content: Callable[[], bytes]) -> None:
        self.path = path
        self.shown = shown
        self._content = content

    @cached_property
    def _read(self) -> Text:
        # What is to be parsed. Raises UnreadableError.
        path = self.path
        data = self._content()
        cells: tuple[Cell, ...] = ()
        if path.suffix == ".ipynb":
            text, cells = code_cells(data)
        else:
            text = decode(data)
        return Text(text=text, lines=tuple(split(text)), cells=cells)

    @cached_property
    def tree(self) -> ast.Module:
        """Return the syntax tree of the text."""
        return _tree(self.text)

    @property
    def text(self) -> str:
        """Return the text that is parsed."""
        return self._read.text

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the lines of the text, without line breaks."""
        return self._read.lines

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return the code cells of a notebook; empty for other files."""
        return self._read.cells

    @property
    def held(self) -> int:
        """Return how many lines the tree in memory has; 0 if the file is not parsed now."""
        if "tree" not in self.__dict__:
            return 0
        return len(self.lines)

    def forget(self) -> None:
        """Free the text and the tree."""
        self.__dict__.pop("tree", None)
        self.__dict__.pop("_read", None)

    def line(self, number: int) -> str:
        """Return a line of the text by its number from 1; empty if there is none."""
        if not 0 < number <= len(self.lines):
            return ""
        return self.lines[number - 1]

    def place(self, line: int) -> tuple[int | None, int]:
        """Return the cell of a line (None outside of notebooks), and the line in it."""
        if not self.cells:
            return None, line
        index = bisect_right(self.cells, line, key=attrgetter("first_line")) - 1
        cell = self.cells[max(0, index)]
        return cell.number, line - cell.first_line + 1

    def span(self, node: ast.AST) -> tuple[int, int, int, int]:
        """Return the start and end of a node in the text, as lines and columns from 1."""
        first = getattr(node, "lineno", 1)
        last = getattr(node, "end_lineno", None) or first
        begins = column(self.line(first), getattr(node, "col_offset", 0))
        ends = column(self.line(last), getattr(node, "end_col_offset", None) or 0)
        if last == first:
            ends = max(ends, begins + 1)
        return first, begins, last, ends


def column(line: str, offset: int) -> int:
    """Return a column in characters from 1, of an offset in bytes of UTF-8, as `ast` counts."""
    if line.isascii():
        return offset + 1
    return len(line.encode()[:offset].decode("utf-8", "ignore")) + 1


def read(path: Path) -> bytes:
    """Return the bytes of a regular file. Raises UnreadableError."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("not a regular file")
        if status.st_size > LARGEST:
            raise UnreadableError(f"larger than {LARGEST // 1024**2} MiB")
        return path.read_bytes()
    except FileNotFoundError:
        raise UnreadableError("does not exist") from None
    except PermissionError:
        raise UnreadableError("no permission to read it") from None
    except (OSError, ValueError) as error:
        raise UnreadableError(getattr(error, "strerror", None) or str(error)) from None


def digest(data: bytes) -> str:
    """Return a hash of a file's content, by which the cache finds it."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def parse(path: Path, shown: str, data: bytes) -> Source:
    """Return the parsed source of a file with this content. Raises UnreadableError."""
    source = Source(path=path, shown=shown, content=lambda: data)
    assert source.tree
    return source


def decode(data: bytes) -> str:
    """Return the text of Python source, by its byte order mark or its PEP 263 comment.

    Else as UTF-8, else latin-1. Raises UnreadableError.
    """
    marked = _marked(data)
    if marked is not None:
        return _decoded(data, marked)
    if b"\0" in data:
        raise UnreadableError("holds null bytes, so it is not Python source")
    try:
        tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        if "unknown encoding" in str(error):
            raise UnreadableError(f"{error.msg}", 1) from None
    return data.decode(encoding(data))


def encoding(data: bytes) -> str:
    """Return the encoding by which `decode` reads these bytes."""
    marked = _marked(data)
    if marked is not None:
        return marked
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        data.decode(name)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return "latin-1"
    return name


def _marked(data: bytes) -> str | None:
    """Return the encoding that a byte order mark names."""
    return next((name for mark, name in _MARKS if data.startswith(mark)), None)


def _decoded(data: bytes, marked: str) -> str:
    try:
        return data.decode(marked)
    except UnicodeDecodeError:
        raise UnreadableError(f"begins with the mark of {marked} and is not {marked}") from None


def _tree(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise UnreadableError(_syntax_reason(error, text), error.lineno) from None
    except (RecursionError, MemoryError):
        raise UnreadableError("nested too deeply to be parsed") from None
    except ValueError as error:
        raise UnreadableError(str(error)) from None


def _syntax_reason(error: SyntaxError, text: str) -> str:
    message = error.msg or "syntax error"
    number = error.lineno or 0
    line = "".join(split(text)[:number][-1:])
    if _PYTHON_2.search(line) or "did you mean print(" in message.lower():
        return f"Python 2: {message}"
    return f"does not parse: {message}"


RECURSION = 6_000
"""Python calls inside of one another that an execution may take, and a text that is parsed again:
long expressions and deep calls need more than the default.
"""


@contextmanager
def deep() -> Iterator[None]:
    """Raise the recursion limit to at least `RECURSION` for the duration of a `with` block."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of statements that hold statements, or what holds them."""

Import = tuple[int, str, tuple[str, ...]]
"""An import: its level, the module, and the names that are taken from it; no names for `import`."""


class Outline(msgspec.Struct, frozen=True):
    """The length and the imports of a file.

    lines         the number of lines
    imports       (level, module, names) of each import
    problem       why the file cannot be read; empty if it can
    problem_line  the line of this problem, if known
    """

    lines: int = 0
    imports: tuple[Import, ...] = ()
    problem: str = ""
    problem_line: int | None = None


def outlined(tree: ast.Module, lines: Sequence[str]) -> Outline:
    """Return the outline of a file that could be parsed."""
    imports: list[Import] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Import(names=aliases):
                imports += [(0, alias.name, ()) for alias in aliases]
            case ast.ImportFrom(names=aliases, level=level, module=module):
                imports.append((level, module or "", tuple(alias.name for alias in aliases)))
            case _:
                waiting += chain.from_iterable(getattr(node, body, ()) for body in _BODIES)
    return Outline(lines=len(lines), imports=tuple(sorted(set(imports))))


def imported(outline: Outline, name: str, *, package: bool) -> Iterator[str]:
    """Yield the dotted names of the modules that a file imports.

    And of the names that it imports from them, which may be modules, too.

    name     dotted name of the importing module
    package  whether the importing module is a package
    """
    for level, module, names in outline.imports:
        origin = absolute(level, module, name, package=package)
        yield origin
        yield from (f"{origin}.{one}" for one in names if one != "*")
