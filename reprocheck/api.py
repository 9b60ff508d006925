"""Checks from Python: `check(function)` and `check("train.py")` do what `reprocheck run` does, and return the result; so does `compare`.

Nothing is printed; what goes wrong is raised as a `reprocheck.errors.UsageError`. Everything else is imported on first use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from reprocheck.errors import ReprocheckError, UsageError

if TYPE_CHECKING:
    from reprocheck.launch import Observer
    from reprocheck.model import Check, EntryPoint, RunRecord
    from reprocheck.settings import Settings

__all__ = ["Options", "check", "compare"]


class Options(TypedDict, total=False):
    """The settings of a check, as `docs/reference/settings.md` has them. What is None or left out comes from files and variables."""

    runs: int | None
    steps: int | Literal["all"] | None
    rtol: float | None
    atol: float | None
    timeout: float | Literal["none"] | None
    workdir: Literal["inplace", "copy"] | None
    output: str | Path | None
    keep: int | Literal["all"] | None
    fail_on: Literal["checks", "any-iteration", "bitwise"] | None
    python: str | Path | None
    show_output: bool | None
    jobs: int | None
    jobs_on_accelerator: bool | None
    level: Literal["loss", "module", "op"] | None
    draw: bool | None
    explain: bool | None
    control: str | Sequence[str] | None
    seed: int | Literal["none"] | None
    deterministic: bool | None
    no_dropout: bool | None
    all_controls: bool | None


def check(
    target: Callable[..., object] | str | os.PathLike[str],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    controls: str | Sequence[str] | None = None,
    observer: Observer | None = None,
    **options: Unpack[Options],
) -> Check:
    """Runs a function or a script several times, each time in a fresh process, and says whether the losses agree.

    target    a function at the top level of a module or script, or the path of a script or notebook
    args      of the function: what pickle takes; of the script: its words on the command line
    kwargs    of the function
    controls  names of controls to run under; the same as the setting `control`
    observer  is told of the runs while they are under way
    options   settings, by their names; what is not given comes from pyproject.toml, reprocheck.toml and REPROCHECK_*

    Returns the result: `check.passed`, `check.verdict`, `check.ladder`, `check.causes`, `check.folder`… A difference is a result and not
    an error. Raises UsageError where the check cannot be made: a function that no fresh process can import, a setting that means nothing, a
    report folder that cannot be written. KeyboardInterrupt is raised once nothing of the runs is alive any more.
    """
    from reprocheck import settings

    with _noted():
        _refuse_inside()
        given: dict[str, object] = {**options, **({} if controls is None else {"control": controls})}
        return _checked(target, args, kwargs or {}, settings.load(_plain(given), Path.cwd()), observer)


def compare(first: str | os.PathLike[str], second: str | os.PathLike[str], *, force: bool = False, **options: Unpack[Options]) -> Check:
    """Compares two recordings, files or folders of `reprocheck record`, as `reprocheck compare` does; run 1 of `first` is the reference.

    force    compare recordings of different scripts all the same
    options  settings, by their names: `rtol`, `atol`, `fail_on`, `output`, `draw`…

    Returns the result; `check.between` is what stands between the two. Raises UsageError where one is no recording, or they do not fit.
    """
    from reprocheck import report, settings
    from reprocheck.recording import bundle
    from reprocheck.workflow import replay

    with _noted():
        held = settings.load(_plain(options), Path.cwd())
        with bundle.opened(Path(first)) as one, bundle.opened(Path(second)) as other:
            found, folder = replay.joined((one, other), (os.fspath(first), os.fspath(second)), held, force=force)
        report.write(found, folder, None if held.draw else ["json"])
        return found


@contextmanager
def _noted() -> Iterator[None]:
    """The traceback of an error that a user can mend ends with what to do."""
    try:
        yield
    except ReprocheckError as error:
        if error.fix and not hasattr(error, "__notes__"):
            error.add_note(f"fix: {error.fix}")
        raise


def _plain(options: Mapping[str, object]) -> dict[str, object]:
    return {name: os.fspath(value) if isinstance(value, os.PathLike) else value for name, value in options.items()}


def _checked(target: object, args: Sequence[Any], kwargs: Mapping[str, Any], held: Settings, observer: Observer | None) -> Check:
    from reprocheck import launch

    if callable(target):
        from reprocheck.launch.function import function_call

        called, cwd = function_call(target, args, kwargs), Path.cwd()
        python = launch.find_python(held.python, cwd)
        folder = launch.prepare(held.output, called.folder_name)
        entry = called.entry(folder, python, cwd)
    else:
        entry = _script(target, args, kwargs, held)
        folder = launch.prepare(held.output, entry.name)
    return _recorded(entry, held, folder, observer or launch.Quiet())


def _script(target: object, args: Sequence[Any], kwargs: Mapping[str, Any], held: Settings) -> EntryPoint:
    from reprocheck import launch

    if not isinstance(target, str | os.PathLike):
        raise UsageError(
            f"reprocheck.check takes a function or the path of a script, not {target!r}.", "Give the function itself: check(train)."
        )
    script = str(os.fspath(target))
    if kwargs:
        raise UsageError(f"{script} is a script: it takes no keyword arguments.", 'Give its words as args=["--epochs", "1"].')
    return launch.entry_point(script=script, args=[str(word) for word in args], python=held.python)


def _refuse_inside() -> None:
    """UsageError in a process that reprocheck started: a script without a guard would start itself again and again."""
    if os.environ.get("REPROCHECK_CHILD"):
        from reprocheck.child.reprocheck_child.shared.called import GUARD, INSIDE

        raise UsageError(INSIDE, GUARD)


def _recorded(entry: EntryPoint, held: Settings, folder: Path, observer: Observer) -> Check:
    """The runs, read back, explained where that is asked for, and written into the report folder."""
    from reprocheck import launch, report
    from reprocheck.workflow import replay
    from reprocheck.workflow.escalation import escalate

    told = _Told(observer, folder)
    launch.check(entry, held, folder, told, enough=partial(replay.nothing_to_compare, folder, told))
    found = escalate(replay.judged(folder), entry, held, folder, told)
    replay.close(folder)
    try:
        report.write(found, folder, None if held.draw else ["json"])
    except ReprocheckError as error:  # the verdict stands
        observer.message(error.message)
    return found


class _Told:
    """What tells an observer of the runs, those at deeper levels among them; a run that did not call the function ends the check."""

    output = None

    def __init__(self, observer: Observer, folder: Path) -> None:
        self._observer = observer
        self._folder = folder

    def run_ended(self, record: RunRecord) -> None:
        """A run has ended. Raises EntryPointError where it could not call the function."""
        from reprocheck.launch.function import refusal

        self._observer.run_ended(record)
        refused = refusal(self._folder / record.trace)
        if refused is not None:
            raise refused

    def deeper(self, title: str, level: str, inside: str = "") -> None:
        """Two more runs at a deeper level follow."""

    def status(self, text: str) -> None:
        """What reprocheck itself is doing."""

    def clear(self) -> None:
        """There is nothing to clear."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._observer, name)
