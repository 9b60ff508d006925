"""Checks from Python: `check`, `explain`, `check_resume` and `compare` return the result.

They do what the commands `reprocheck run`, `explain`, `resume` and `compare` do.

Nothing is printed; what goes wrong is raised as a `reprocheck.errors.UsageError`. Everything else
is imported on first use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from reprocheck.errors import ReprocheckError, UsageError

if TYPE_CHECKING:
    from reprocheck.launch import Observer
    from reprocheck.launch.observer import Silent
    from reprocheck.model import Check, EntryPoint, RunRecord
    from reprocheck.resume.model import ResumeCheck
    from reprocheck.resume.request import Asked
    from reprocheck.settings import Settings

__all__ = ["Options", "check", "check_resume", "compare", "explain"]


class Options(TypedDict, total=False):
    """The settings of a check, as described in `docs/reference/settings.md`.

    What is None or left out comes from files and variables.
    """

    runs: int | None
    steps: int | Literal["all"] | None
    rtol: float | None
    atol: float | None
    timeout: float | Literal["none"] | None
    workdir: Literal["inplace", "copy"] | None
    output: str | Path | None
    keep: int | Literal["all"] | None
    fail_on: str | Sequence[str] | None
    python: str | Path | None
    show_output: bool | None
    jobs: int | None
    jobs_on_accelerator: bool | None
    level: Literal["auto", "loss", "module", "op"] | None
    draw: bool | Literal["failure"] | None
    explain: bool | None
    max_runs: int | Literal["all"] | None
    control: str | Sequence[str] | None
    seed: int | Literal["none"] | None
    deterministic: bool | None
    no_dropout: bool | None
    all_controls: bool | None
    vary: bool | str | Sequence[str] | None
    vary_not: str | Sequence[str] | None
    vary_seed: int | Literal["none"] | None
    must_differ: str | None


def check(
    target: Callable[..., object] | str | os.PathLike[str],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    controls: str | Sequence[str] | None = None,
    observer: Observer | None = None,
    **options: Unpack[Options],
) -> Check:
    """Run a function or a script several times, and return whether the losses agree.

    Each run is a fresh process.

    Args:
        target: A function at the top level of a module or script, or the path of a script or
            notebook.
        args: Of the function: what pickle takes; of a script: its words on the command line.
        kwargs: Of the function, by name; a script takes none.
        controls: Names of controls to run under; the same as the setting `control`.
        observer: Is told of the runs while they are under way.
        options: Settings, by their names: `runs` and `steps` in runs and iterations, `timeout` in
            seconds. What is not given comes from pyproject.toml, reprocheck.toml and REPROCHECK_*.

    Returns:
        The result: `check.passed`, `check.verdict`, `check.ladder`, `check.causes`,
        `check.folder`… A difference is a result and not an error.

    Raises:
        UsageError: Where the check cannot be made: a function that no fresh process can import, a
            setting that means nothing, a report folder that cannot be written.
        KeyboardInterrupt: Once nothing of the runs is alive any more.

    Examples:
        >>> found = reprocheck.check("train.py", ["--epochs", "1"], steps=20)
        >>> found.verdict.title
        'REPRODUCIBLE'
    """
    from reprocheck import settings

    with _noted():
        _refuse_inside()
        held = settings.load(_plain(_with(options, controls)), Path.cwd())
        return _checked(target, args, kwargs or {}, held, observer)


def explain(
    target: Callable[..., object] | str | os.PathLike[str],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    controls: str | Sequence[str] | None = None,
    observer: Observer | None = None,
    **options: Unpack[Options],
) -> Check:
    """Check a training, and search for the cause where the runs differ: `reprocheck explain`.

    It does what `check` does; then runs under controls follow until the cause is confirmed. A
    search takes ten runs and more.

    Args:
        target: As of `check`.
        args: As of `check`.
        kwargs: As of `check`.
        controls: As of `check`.
        observer: As of `check`.
        options: As of `check`.

    Returns:
        The result. `check.search` is what the search came to, None where nothing differs;
        `check.search.patch` the patch that was tried; `check.causes` begins with what was
        confirmed.

    Raises:
        UsageError: As of `check`.
        KeyboardInterrupt: As of `check`.

    Examples:
        >>> found = reprocheck.explain("train.py")
        >>> print(found.causes[0].title, found.search.patch)
    """
    from reprocheck import settings

    with _noted():
        _refuse_inside()
        given = {**_with(options, controls), "explain": True}
        held = settings.load(_plain(given), Path.cwd())
        return _checked(target, args, kwargs or {}, held, observer, search=True)


def check_resume(
    target: str | os.PathLike[str],
    args: Sequence[str] = (),
    *,
    resume_with: str = "",
    checkpoint: str = "",
    at: Sequence[str] = (),
    interrupt: str = "",
    within: int = 50,
    go_on: int = 10,
    confirm: bool = False,
    observer: Observer | None = None,
    **options: Unpack[Options],
) -> ResumeCheck:
    """Stop a script at its checkpoint, resume it, and compare that with going on.

    The script runs to its checkpoint and beyond, and is resumed from it, as `reprocheck resume`
    does.

    Args:
        target: The path of a script.
        args: Its words on the command line.
        resume_with: Words that are added to resume it, such as `--resume {checkpoint}`.
        checkpoint: Which files are the checkpoint, as a pattern; "" where that is to be found out.
        at: Places: `first`, `epoch-end`, `second-epoch` or a number of updates, as text.
        interrupt: `term` or `kill`: end another run by that signal, and resume from what it left.
        within: Iterations within which the script writes its checkpoint.
        go_on: Iterations behind it that are compared.
        confirm: Where the resume is not exact, put back what was lost in further runs, which
            confirms it: `confirmation` of an outcome.
        observer: As of `check`.
        options: As of `check`, but for `runs`, `steps`, `jobs` and `workdir`.

    Returns:
        The result: `title`, `exit_code`, and `outcomes`, one for each place.

    Raises:
        UsageError: As of `check`; and where the checkpoint is written outside of the working
            directory.
        KeyboardInterrupt: As of `check`.

    Examples:
        >>> found = reprocheck.check_resume("train.py", ["--epochs", "2"])
        >>> found.title
        'RESUMES EXACTLY'
    """
    from reprocheck import settings
    from reprocheck.resume.external_checkpoint import absolute
    from reprocheck.resume.request import Asked, places, refuse_signal, words

    with _noted():
        _refuse_inside()
        held = settings.load(_plain(options), Path.cwd())
        words(resume_with)
        refuse_signal(interrupt)
        asked = Asked(
            at=places(at),
            within=within,
            go_on=go_on,
            resume_with=resume_with,
            interrupt=interrupt,
            pattern=absolute(checkpoint, Path.cwd()),
            explain=confirm,
        )
        return _resumed(_script(target, args, {}, held), held, asked, observer)


def compare(
    first: str | os.PathLike[str],
    second: str | os.PathLike[str],
    *,
    force: bool = False,
    **options: Unpack[Options],
) -> Check:
    """Compare two recordings that were made apart, as `reprocheck compare` does.

    Run 1 of `first` is the reference.

    Args:
        first: A file or folder of `reprocheck record`.
        second: Another one.
        force: Compare recordings of different scripts all the same.
        options: Settings, by their names: `rtol`, `atol`, `fail_on`, `output`, `draw`…

    Returns:
        The result, as of `check`; `check.between` is what stands between the two.

    Raises:
        UsageError: Where one of them is no recording, or they do not fit.

    Examples:
        >>> found = reprocheck.compare("here.zip", "there.zip", rtol=1e-5)
        >>> found.passed
        False
    """
    from reprocheck import report, settings
    from reprocheck.recording import bundle
    from reprocheck.workflow import replay

    with _noted():
        held = settings.load(_plain(options), Path.cwd())
        with bundle.opened(Path(first)) as one, bundle.opened(Path(second)) as other:
            found, folder = replay.joined(
                (one, other), (os.fspath(first), os.fspath(second)), held, force=force
            )
        report.write(found, folder, report.names(found, held.draw))
        return found


@contextmanager
def _noted() -> Iterator[None]:
    """Add what to do to the traceback of an error that a user can fix."""
    try:
        yield
    except ReprocheckError as error:
        if error.fix and not hasattr(error, "__notes__"):
            error.add_note(f"fix: {error.fix}")
        raise


def _with(options: Options, controls: str | Sequence[str] | None) -> dict[str, object]:
    """Return the options, with the controls where they are given."""
    given: dict[str, object] = {**options}
    if controls is not None:
        given["control"] = controls
    return given


def _plain(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options with paths as text."""
    given = dict(options)
    for name, value in options.items():
        if isinstance(value, os.PathLike):
            given[name] = os.fspath(value)
    return given


def _checked(
    target: object,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    held: Settings,
    observer: Observer | None,
    *,
    search: bool = False,
) -> Check:
    """Run the check of a function or a script, write its reports, and return it."""
    from reprocheck import launch

    if callable(target):
        from reprocheck.launch.entry.function import function_call

        called, cwd = function_call(target, args, kwargs), Path.cwd()
        python = launch.find_python(held.python, cwd)
        folder = launch.prepare(held.output, called.folder_name)
        entry = called.entry(folder, python, cwd)
    else:
        entry = _script(target, args, kwargs, held)
        folder = launch.prepare(held.output, entry.name)
    return _written(entry, held, folder, observer or launch.Quiet(), search=search)


def _resumed(
    entry: EntryPoint, held: Settings, asked: Asked, observer: Observer | None
) -> ResumeCheck:
    """Run the check of a resume, write its reports, and return it."""
    from reprocheck import launch
    from reprocheck.launch.observer import Silent
    from reprocheck.resume.check import checked
    from reprocheck.resume.report.formats import write

    folder = launch.prepare(held.output, entry.name)
    found = checked(entry, held, folder, Silent(observer or launch.Quiet()), asked)
    write(found, folder, ["json"] if held.draw is False else None)
    return found


def _script(
    target: object, args: Sequence[Any], kwargs: Mapping[str, Any], held: Settings
) -> EntryPoint:
    from reprocheck import launch

    if not isinstance(target, str | os.PathLike):
        raise UsageError(
            f"reprocheck.check takes a function or the path of a script, not {target!r}.",
            "Give the function itself: check(train).",
        )
    script = str(os.fspath(target))
    if kwargs:
        raise UsageError(
            f"{script} is a script: it takes no keyword arguments.",
            'Give its words as args=["--epochs", "1"].',
        )
    return launch.entry_point(script=script, args=[str(word) for word in args], python=held.python)


def _refuse_inside() -> None:
    """Raise UsageError in a process that reprocheck started.

    A script without a guard would start itself again and again.
    """
    if os.environ.get("REPROCHECK_CHILD"):
        from reprocheck.child.reprocheck_child.shared.function_calls import GUARD, INSIDE

        raise UsageError(INSIDE, GUARD)


def _written(
    entry: EntryPoint, held: Settings, folder: Path, observer: Observer, *, search: bool
) -> Check:
    from reprocheck.workflow.check import checked, written

    found = checked(entry, held, folder, _teller(observer, folder), search=search)
    failure = written(found, folder, held.draw)
    if failure is not None:
        observer.message(failure.message)
    return found


def _teller(observer: Observer, folder: Path) -> Silent:
    """Return what tells an observer of the runs.

    A run that did not call the function ends the check.
    """
    from reprocheck.launch.entry.function import refusal
    from reprocheck.launch.observer import Silent

    class Told(Silent):
        def run_ended(self, record: RunRecord) -> None:
            """Tell that a run has ended.

            Raises EntryPointError where it could not call the function.
            """
            observer.run_ended(record)
            refused = refusal(folder / record.trace)
            if refused is not None:
                raise refused

    return Told(observer)
