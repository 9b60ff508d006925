"""Run `reprocheck compare`, for two recordings or for the script in two commits.

The script as it is, and as it was in another commit.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, chdir
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reprocheck.cli.destination import Destination, FormatOption, OutputOption, destination
from reprocheck.cli.parameters import ENTRY, OneCommand, RunCommand, argument, option, with_settings
from reprocheck.errors import UsageError
from reprocheck.model import Setting
from reprocheck.settings import OPTIONS

if TYPE_CHECKING:
    from reprocheck.cli.console import Console
    from reprocheck.settings import Settings

NOT_HERE = ("runs",)
SidesArgument = Annotated[
    list[str] | None, argument(metavar="RUN-A RUN-B", help="Recordings: files or folders.")
]
AgainstOption = Annotated[
    str | None,
    option(
        "--against",
        metavar="COMMIT",
        help="Record the script as it was in this commit and as it is; compare these.",
    ),
]
ForceOption = Annotated[
    bool, option("--force", help="Compare the recordings even if their scripts differ.")
]
RunsOption = Annotated[
    int,
    option(
        "--runs",
        metavar="N",
        min=1,
        help="With --against, how often each side is run; 2 or more show the noise of each. [1]",
    ),
]


class CompareCommand(RunCommand):
    """Parse a command line of two recordings, with options anywhere.

    With `--against`, that of an entry point, at which options end as for `run`.
    """

    usage = ("[OPTIONS] RUN-A RUN-B", "--against COMMIT [OPTIONS] SCRIPT.py [ARGS]...")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as `run` does if a commit is named by `--against`, else as any command."""
        if any(word == "--against" or word.startswith("--against=") for word in args):
            return super().parse_args(ctx, args)
        ctx.meta[ENTRY] = []
        return OneCommand.parse_args(self, ctx, args)


@with_settings(*(option.name for option in OPTIONS if option.name not in NOT_HERE))
def compare(
    ctx: typer.Context,
    flags: dict[str, object],
    sides: SidesArgument = None,
    against: AgainstOption = None,
    runs: RunsOption = 1,
    force: ForceOption = False,
    format: FormatOption = None,
    output_file: OutputOption = None,
) -> int:
    """Compare two recordings and return the exit code of the verdict."""
    from reprocheck import settings
    from reprocheck.cli.console import Console
    from reprocheck.language import spoken

    held = replace(settings.load(flags, Path.cwd()), runs=runs)
    target = destination(format, output_file)
    console = Console(held, target)
    try:
        with spoken(held.lang):
            held = _with_own_options(held, against, runs, force=force)
            if against is not None:
                return _with_commit(against, ctx.meta[ENTRY], held, console, target, force=force)
            first, second = _two(sides or [])
            return _recordings(first, second, held, console, target, force=force)
    finally:
        console.clear()


def _with_own_options(held: Settings, against: str | None, runs: int, *, force: bool) -> Settings:
    """Return the settings with the options of `compare` itself, to print the whole command."""
    typed = []
    if against is not None:
        typed.append(Setting(name="against", value=against, origin="--against"))
    if against is not None and runs > 1:
        typed.append(Setting(name="runs", value=runs, origin="--runs"))
    if force:
        typed.append(Setting(name="force", value=True, origin="--force"))
    names = {setting.name for setting in typed}
    others = (setting for setting in held.provenance if setting.name not in names)
    return replace(held, provenance=(*others, *typed))


def _two(sides: list[str]) -> tuple[Path, Path]:
    if len(sides) != 2:
        raise UsageError(
            f"compare takes two recordings, not {len(sides)}.",
            "reprocheck compare run-a.zip run-b.zip, or reprocheck compare --against COMMIT"
            " train.py",
        )
    return Path(sides[0]), Path(sides[1])


def _recordings(
    first: Path,
    second: Path,
    held: Settings,
    console: Console,
    target: Destination | None,
    *,
    force: bool,
) -> int:
    from reprocheck.recording import bundle

    console.begin(f"{first} and {second}")
    console.status("reading the recordings")
    with ExitStack() as stack:
        folders = [stack.enter_context(bundle.opened(path)) for path in (first, second)]
        return _compared(
            (folders[0], folders[1]), (str(first), str(second)), held, console, target, force=force
        )


def _with_commit(
    commit: str,
    words: list[str],
    held: Settings,
    console: Console,
    target: Destination | None,
    *,
    force: bool,
) -> int:
    """Record both sides here and compare them.

    First the commit in its own worktree, then the working directory as it is.
    """
    import tempfile

    from reprocheck import launch
    from reprocheck.cli.run import entry_words, interpreter, title

    asked = entry_words(words, "compare --against COMMIT")
    here = Path.cwd()
    found = launch.find_commit(commit, here)
    python = interpreter(asked, held)
    launch.entry_point(**asked, python=python)  # type: ignore[arg-type]
    held = replace(held, python=launch.find_python(python, here)) if python else held
    output = (here / held.output).absolute()
    with tempfile.TemporaryDirectory(prefix="reprocheck-", ignore_cleanup_errors=True) as temporary:
        recordings = Path(temporary) / "commit", Path(temporary) / "here"
        with launch.worktree(found, here, output, console.message) as there:
            for folder, place, name in zip(
                recordings, (there, here), (found.shown, "the working directory"), strict=True
            ):
                with chdir(place):
                    entry = launch.entry_point(**asked, python=held.python if python else None)  # type: ignore[arg-type]
                    console.begin(f"{title(entry)}, {name}")
                    folder.mkdir()
                    _recorded(entry, held, folder, console, name)
        return _compared(
            recordings, (found.shown, "the working directory"), held, console, target, force=force
        )


def _recorded(entry: Any, held: Settings, folder: Path, console: Console, name: str) -> None:
    """Record one side of the comparison. Raises UsageError if it recorded nothing comparable."""
    from reprocheck.cli import record, summary
    from reprocheck.workflow.check import recorded

    check = recorded(entry, held, folder, console)
    console.clear()
    if record.failed(check):
        summary.print_verdict(check, console)
        raise UsageError(
            f"{name} recorded nothing that can be compared: {check.verdict.reason}",
            "Try it alone: reprocheck record …",
        )


def _compared(
    folders: tuple[Path, Path],
    names: tuple[str, str],
    held: Settings,
    console: Console,
    target: Destination | None,
    *,
    force: bool,
) -> int:
    """Join two recordings, judge them, explain the verdict and draw the reports."""
    from reprocheck.cli import summary
    from reprocheck.cli.run import write
    from reprocheck.workflow import replay

    try:
        console.status("comparing the recordings")
        check, folder = replay.joined(folders, names, held, force=force)
    finally:
        console.clear()
    summary.print_verdict(check, console)
    written = write(check, folder, console, target, held.draw)
    page = summary.page(written=written, draw=held.draw)
    summary.print_place(check, console, Path(os.path.relpath(folder)), page)
    summary.print_next(check, console)
    return check.verdict.exit_code
