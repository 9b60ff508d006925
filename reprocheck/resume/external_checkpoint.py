"""Handle a checkpoint outside of the working directory.

Written where the user allows it by its pattern, kept beside the snapshot, put back for the resumed
run, and removed at the end.

No file of the user is touched: what stands there already is a reason to refuse.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatch
from glob import escape
from itertools import takewhile
from pathlib import Path

from reprocheck.child.reprocheck_child.shared.variables import fixed_start
from reprocheck.errors import UsageError
from reprocheck.files.summary import summary


def absolute(pattern: str, cwd: Path) -> str:
    """Return a pattern that leads out of the working directory as an absolute path.

    Any other pattern is returned relative to the working directory.
    """
    if not pattern:
        return ""
    path = Path(os.path.normpath(cwd / Path(pattern).expanduser()))
    if path.is_relative_to(cwd):
        return str(path.relative_to(cwd))
    base, _ = _start(str(path))  # where no part is a link that a pattern stands for
    return str(Path(os.path.realpath(base)) / path.relative_to(base))


class Elsewhere:
    """The files outside of the working directory that match a checkpoint pattern.

    None if the pattern lies in the working directory.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern if pattern.startswith("/") else ""
        self._base, _ = _start(self.pattern)
        self._stood = next(filter(Path.is_dir, (self._base, *self._base.parents)))
        self._folders = frozenset(self._all_folders())
        """Those of the user, which stay although nothing is in them."""

    def refuse(self) -> None:
        """Raise UsageError if files of the user match the pattern."""
        files = self.files()
        if files:
            raise UsageError(
                f"--checkpoint {self.pattern}: {summary(files)} stands there already, and the"
                " check would have to overwrite or remove it.",
                "Move it away, or have the script write to a folder of its own.",
            )

    def files(self) -> list[str]:
        """Return the files that match the pattern now, as sorted absolute paths."""
        return sorted(self.matching())

    def matching(self) -> Iterator[str]:
        """Yield the files that match the pattern now, as absolute paths."""
        files = (str(path) for path in _below(self.pattern) if _is_file(path))
        return (path for path in files if fnmatch(path, self.pattern))

    def keep(self, store: Path) -> None:
        """Copy the files that match the pattern now into `store`. Raises OSError."""
        for path in self.files():
            _copy(Path(path), store / path.lstrip("/"))

    def put_back(self, store: Path) -> None:
        """Replace the files that match the pattern by those kept in `store`. Raises OSError."""
        self.remove()
        for path in filter(_is_file, sorted(store.rglob("*"))):
            _copy(path, Path("/", path.relative_to(store)))

    def remove(self) -> None:
        """Remove the files that match the pattern, and the folders that the runs made for them."""
        for path in self.files():
            Path(path).unlink(missing_ok=True)
        for made in sorted(self._all_folders() - self._folders, reverse=True):
            _remove_empty(made)
        folders = (self._base, *self._base.parents)
        for folder in takewhile(lambda one: one != self._stood, folders):
            _remove_empty(folder)

    def _all_folders(self) -> set[Path]:
        """Return the folders in which matching files may lie."""
        below = _below(self.pattern)
        return {path for path in below if path.is_dir() and not path.is_symlink()}


def _below(pattern: str) -> Iterator[Path]:
    """Yield the paths that begin as a pattern does, and all below them.

    An empty pattern yields nothing.
    """
    if not pattern:
        return
    folder, start = _start(pattern)
    for top in folder.glob(escape(start) + "*"):
        yield top
        if top.is_dir() and not top.is_symlink():
            yield from top.rglob("*")


def _start(pattern: str) -> tuple[Path, str]:
    """Return the folder that holds all that can match, and how names begin there."""
    folder, _, start = fixed_start(pattern).rpartition("/")
    return Path(folder or "/"), start


def _is_file(path: Path) -> bool:
    """Return whether a path is a file or a link; a link counts wherever it leads."""
    return path.is_symlink() or path.is_file()


def _copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target, follow_symlinks=False)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # something is left in it
        folder.rmdir()


NUMBERED = re.compile(
    r"\d+|(?:[a-z]*[-_]?(?:ckpt|checkpoint|step|epoch|iter(?:ation)?)[-_=]?\d+[-_,]?)+",
    re.IGNORECASE,
)
"""Names of folders that each checkpoint has anew. Those of a run or a job are no such names: the
folder beside one is that of another training.
"""


def outside(path: str, allowed: Elsewhere) -> UsageError:
    """Return the error that says with which pattern a checkpoint outside is allowed.

    path     as a trace has it
    allowed  what is allowed already
    """
    patterns = _patterns(Path(escape(path)))
    if allowed.pattern:
        own = str(Path(escape(path)).expanduser())
        start = _common(allowed.pattern, own)
        rests = (text[len(start) :][::-1] for text in (allowed.pattern, own))
        patterns = iter([f"{start}*{_common(*rests)[::-1]}"])
    advice = "Have the script write to a folder of its own: files of yours have such names, too."
    for pattern in patterns:
        if not any(Elsewhere(absolute(pattern, Path.cwd())).matching()):
            advice = (
                f"Allow it with --checkpoint {shlex.quote(pattern)}: what the runs write there is"
                " removed afterwards."
            )
            break
    return UsageError(
        f"The checkpoint is written outside of the working directory: {path}. The run was ended"
        " before, so no file there has changed.",
        advice,
    )


def _patterns(file: Path) -> Iterator[str]:
    """Yield patterns of a checkpoint and of those that follow it, the widest first."""
    numbered = takewhile(lambda folder: NUMBERED.fullmatch(folder.name), file.parents)
    for folder in reversed([*numbered]):
        yield f"{folder.parent}/*"
        yield f"{folder.parent}/{_any_number(folder.name)}/*"
    yield f"{file.parent}/*"
    # with other ends; a hidden file is the draft of another one
    stem = file.name.lstrip(".")
    hidden = "*" * (stem != file.name)
    any_end = f"{hidden}{_any_number(stem.partition('.')[0])}*".replace("**", "*")
    yield f"{file.parent}/{any_end}"
    yield f"{file.parent}/{_any_number(file.name)}"
    yield str(file)


def _any_number(name: str) -> str:
    return re.sub(r"\d+", "*", name)


def _common(one: str, other: str) -> str:
    """Return what both begin with."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in pairs)
