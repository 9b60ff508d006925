"""Virtual environments by what is installed in them, made once and kept.

Each lies in a folder with the digest of its content for a name. The file `environment.json` is
written into it last: a folder without it was left by a process that was killed, and is made anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import msgspec

import reprocheck
from reprocheck.errors import ReportError, UsageError
from reprocheck.files.atomic import replacing

SEVERAL_LINES = 12
"""So many of the last lines of an error of uv are shown."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Hold the message of uv if uv cannot do what it was asked for."""

    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Uv:
    """Run uv for one interpreter.

    program  the command that starts uv, as words
    python   the absolute path of the interpreter that packages are for
    folder   the folder of the target, from which uv looks for its configuration
    """

    program: tuple[str, ...]
    python: str
    folder: Path

    def answer(self, *words: str, given: str = "") -> str | Refused:
        """Return what `uv WORDS` prints. `given`: the text on its standard input."""
        done = subprocess.run(
            [*self.program, "--no-progress", "--color", "never", *words],
            cwd=self.folder,
            input=given,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if done.returncode == 0:
            return done.stdout
        return Refused("\n".join(done.stderr.strip().splitlines()[-SEVERAL_LINES:]))


def find_uv(python: str, folder: Path) -> Uv:
    """Return uv from PATH, or from beside this Python.

    Raises UsageError if uv is not installed.
    """
    if on_path := shutil.which("uv"):
        return Uv(program=(on_path,), python=python, folder=folder)
    if find_spec("uv") is not None:
        return Uv(program=(sys.executable, "-m", "uv"), python=python, folder=folder)
    raise UsageError(
        "A search over package versions needs uv, which is not installed.",
        'pip install "reprocheck[bisect]"',
    )


NOTE = "environment.json"
GIB = 1 << 30
_ASK = (
    "import json, sys, sysconfig;"
    "print(json.dumps([sys.base_prefix, sys.version, sysconfig.get_platform()]))"
)


class _Note(msgspec.Struct, kw_only=True, frozen=True):
    """Describe an environment folder: its requirements, and its size in bytes."""

    requirements: tuple[str, ...]
    python: str
    size: int


def default_folder() -> Path:
    """Return `$XDG_CACHE_HOME/reprocheck/environments`, by default in `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "reprocheck" / "environments"


def digest_of(requirements: Sequence[str]) -> str:
    """Return a digest of the installed requirements: 16 hexadecimal digits."""
    return hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True, slots=True)
class Environments:
    """Manage the environments of a folder.

    `limit`: bytes that all may take together; the environment asked for last stays in any case.
    """

    folder: Path
    limit: int = 20 * GIB

    @contextmanager
    def used(
        self, requirements: Sequence[str], uv: Uv, making: Callable[[], None]
    ) -> Iterator[Path | Refused]:
        """Yield the interpreter of an environment that holds these requirements alone.

        The environment stays as long as the block runs. Yields uv's message if it cannot be made.

        requirements  lines as `uv pip compile` writes them, including dependencies
        making        called before an environment is made

        Raises ReportError if the folder cannot be written.
        """
        # an interpreter is told by its installation, version and platform
        done = subprocess.run([uv.python, "-I", "-S", "-c", _ASK], capture_output=True, text=True)
        key = digest_of((done.stdout.strip() or uv.python, *requirements))
        place = self.folder / key
        with _lock(self.folder, key) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            refused = None
            if not (place / NOTE).exists():
                making()
                refused = _make(place, tuple(requirements), uv)
            if refused is not None:
                shutil.rmtree(place, ignore_errors=True)
                yield refused
                return
            os.utime(place / NOTE)
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            self._prune(keep=place)
            yield place / "bin" / "python"

    def _prune(self, keep: Path) -> None:
        """Remove the least recently used environments until all are within the limit.

        None in use by a search is removed.
        """
        notes = sorted(self.folder.glob(f"*/{NOTE}"), key=_last_use)
        taken = sum(map(_size, notes))
        for note in notes:
            if taken <= self.limit:
                return
            size = _size(note)
            if note.parent != keep and _removed(note):
                taken -= size


def _removed(note: Path) -> bool:
    """Remove an environment, and return True; return False if a search uses it."""
    with _lock(note.parent.parent, note.parent.name) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        note.unlink(missing_ok=True)
        shutil.rmtree(note.parent, ignore_errors=True)
        return True


def _make(place: Path, requirements: tuple[str, ...], uv: Uv) -> Refused | None:
    """Make an environment at `place`, and return None; return uv's message if that fails."""
    shutil.rmtree(place, ignore_errors=True)
    made = uv.answer("venv", "--quiet", "--no-project", "--python", uv.python, str(place))
    if isinstance(made, Refused):
        return made
    python = place / "bin" / "python"
    installed = uv.answer(
        *("pip", "install", "--quiet", "--no-deps", "--python", str(python), "-r", "-"),
        given="\n".join(requirements),
    )
    if isinstance(installed, Refused):
        return installed
    size = 0
    for path in place.rglob("*"):
        if path.is_file() or path.is_symlink():
            size += path.lstat().st_size
    note = _Note(requirements=requirements, python=uv.python, size=size)
    with replacing(place / NOTE) as file:
        file.write(msgspec.json.format(msgspec.json.encode(note)))
    return None


def _size(note: Path) -> int:
    try:
        return msgspec.json.decode(note.read_bytes(), type=_Note).size
    except (OSError, msgspec.MsgspecError):
        return 0


def _last_use(note: Path) -> float:
    try:
        return note.stat().st_mtime
    except OSError:
        return time.time()


@contextmanager
def _lock(folder: Path, key: str) -> Iterator[int]:
    """Open the lock file of an environment; the lock itself is not taken yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / f".{key}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise ReportError(
            f"{folder} cannot be written: {error.strerror or error}.",
            "Set XDG_CACHE_HOME to a folder that can be written.",
        ) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


_ASK_PLACES = """
import json, sys
from importlib.metadata import distributions

found = list(sys.path)
for one in distributions():
    origin = json.loads(one.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        found.append(origin["url"])
print(json.dumps(found))
"""
_FILE = "file://"
_SOURCES = ("", "src")
"""Where a project has its packages: beside its pyproject.toml, or in a folder of their own."""


def search_path(python: str, root: Path, worktree: Path) -> tuple[Path, ...]:
    """Return the folders of a worktree from which its packages are imported.

    They are for PYTHONPATH: those of the working tree `root` that the interpreter imports from, at
    their place in the worktree.
    """
    done = subprocess.run([python, "-I", "-c", _ASK_PLACES], capture_output=True, text=True)
    try:
        listed = msgspec.json.decode(done.stdout, type=list[str])
    except msgspec.MsgspecError:
        return ()
    ours = Path(reprocheck.__file__).resolve().parents[1]
    places = dict.fromkeys(Path(_plain(one)).resolve() for one in listed if one)
    inside = [
        place.relative_to(root.resolve())
        for place in places
        if place.is_relative_to(root.resolve())
        and place != ours
        and "site-packages" not in place.parts
    ]
    found = [worktree / place / sources for place in inside for sources in _SOURCES]
    return tuple(dict.fromkeys(place for place in found if place.is_dir()))


def _plain(place: str) -> str:
    """Return the path of a `file://` URL; a plain path as it is."""
    from urllib.parse import unquote

    if place.startswith(_FILE):
        return unquote(place.removeprefix(_FILE))
    return place
