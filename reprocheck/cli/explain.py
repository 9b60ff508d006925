"""`reprocheck explain`: the check as it is, the ladder, and then runs under controls until the cause is confirmed."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reprocheck.cli.destination import FormatOption, OutputOption, destination
from reprocheck.cli.parameters import ENTRY, with_settings
from reprocheck.errors import ReportError, ReprocheckError
from reprocheck.settings import OPTIONS

if TYPE_CHECKING:
    from reprocheck.cli.console import Console
    from reprocheck.model import Check, EntryPoint
    from reprocheck.search.sets import Question
    from reprocheck.settings import Settings

MOST_ARMS = 60
"""Arms of one search at most: more than any search by halves takes."""
OWN = ("explain", "level")
"""Options of `run` that mean nothing here."""
PatchOption = Annotated[
    Path | None, typer.Option("--write-patch", metavar="FILE", help="Write the patch that was found there, to apply with `patch -p1`.")
]


@with_settings(*(option.name for option in OPTIONS if option.name not in OWN))
def explain(
    ctx: typer.Context,
    flags: dict[str, object],
    write_patch: PatchOption = None,
    format: FormatOption = None,
    output_file: OutputOption = None,
) -> int:
    """Finds the cause of a failed check; returns the exit code of the verdict."""
    from reprocheck import settings
    from reprocheck.cli.console import Console
    from reprocheck.cli.run import entry_words, perform
    from reprocheck.cli.stopwatch import Stopwatch

    held = replace(settings.load(flags, Path.cwd()), explain=True)
    words = entry_words(ctx.meta[ENTRY], "explain")
    target = destination(format, output_file)
    if write_patch is not None:
        _writable(write_patch)
    console = Console(held, data_on_stdout=target is not None and target.is_stdout)
    watch = Stopwatch(console)
    return perform(words, held, console, target, observer=watch, search=partial(search, watch=watch, write_patch=write_patch))


def search(
    check: Check, entry: EntryPoint, held: Settings, folder: Path, console: Console, *, watch: Any, write_patch: Path | None = None
) -> Check:
    """The check with what a search over controls says of it. What goes wrong becomes a caveat; an interrupt keeps what was recorded."""
    from reprocheck.cli import repair
    from reprocheck.recording import record
    from reprocheck.search.confirm import question
    from reprocheck.workflow.escalation import keep_caveat, wanted

    if not wanted(check, held):
        _nothing_to_search(check, console)
        return check
    watch.keep_as_is(folder)
    try:
        for number in range(1, MOST_ARMS + 1):
            check = replace(check, record=record.read(folder))
            asked = question(check, folder)
            if asked is None:
                break
            _record(asked, number, check, entry, held, folder, console, watch)
        repair.repair(_again(check, folder), entry, held, folder, console, watch=watch)
    except Exception as error:
        said = error.message if isinstance(error, ReprocheckError) else f"{type(error).__name__}: {error}"
        keep_caveat(folder, f"The search for the cause was broken off: {said}")
    finally:
        console.clear()
    check = _again(check, folder)
    if write_patch is not None:
        _write(write_patch, check, console)
    return check


def _record(
    question: Question, number: int, check: Check, entry: EntryPoint, held: Settings, folder: Path, console: Console, watch: Any
) -> None:
    """The runs that a question asks for, beside those that there are already."""
    from reprocheck import launch
    from reprocheck.search.length import most_runs

    enough = partial(_decided, check, folder, question.controls) if question.controls else None
    names = (*check.record.controls, *question.controls)
    made = sum(len(arm.runs) for arm in check.record.arms if set(arm.controls) == set(names) and not arm.patched)
    console.arm(" + ".join(question.controls) or "as it is", question.why, most_runs(check, folder))
    name = f"{number}-{_short(question.controls)}"
    launch.record_arm(
        *(entry, held, folder, watch),
        name=name,
        controls=names,
        seed=held.seed,
        runs=max(1, question.runs - made),
        steps=held.steps,
        why=question.why,
        output=console.output,
        enough=enough,
    )
    watch.keep_arm(folder, name)


def _decided(check: Check, folder: Path, controls: tuple[str, ...]) -> bool:
    """Whether the runs of an arm that were made by now say all that it can say."""
    from reprocheck.recording import record
    from reprocheck.search.confirm import decided

    return decided(replace(check, record=record.read(folder)), folder, controls)


def _short(controls: tuple[str, ...]) -> str:
    if not controls:
        return "as-is"
    return "+".join(controls) if len(controls) < 3 else f"{len(controls)}-controls"


def _again(check: Check, folder: Path) -> Check:
    """The check with what its record says by now."""
    from reprocheck.workflow import replay

    return replay.explained(replay.judged(folder), folder)


def _nothing_to_search(check: Check, console: Console) -> None:
    """Where the check passes, or says nothing."""
    from reprocheck.report import words

    found = check.verdict.bitwise
    if check.verdict.exit_code != 0:
        said = "No losses that differ were recorded, so no control can be tried."
    elif found.equal is not False:
        said = "No difference was seen: there is nothing to explain. `--runs N` looks for one that comes and goes."
    elif found.one_is_longer:
        said = (
            f"No loss that both runs recorded differs, but one run is longer: iteration {found.first_iteration:,} is missing in the other."
        )
    else:
        _, where = words.bitwise(check)
        said = (
            f"The checks pass, but the losses are not equal in every bit: {where}. `{words.bitwise_search(check)}` searches for the cause."
        )
    console.remark(said, style="bold")


def _writable(file: Path) -> None:
    """Before the first run: whether the patch can be written there."""
    if file.is_dir():
        raise ReportError(f"{file} is a folder.", "Name a file with --write-patch.")
    if not file.parent.is_dir():
        raise ReportError(f"{file} cannot be written: there is no folder {file.parent}.", "Name another file with --write-patch.")


def _write(file: Path, check: Check, console: Console) -> None:
    from reprocheck.cli.failure import print_error

    if not check.search or not check.search.patch:
        console.remark(f"There is no patch, so {file} was not written: the fix is code to paste.", style="yellow")
        return
    try:
        file.write_text(check.search.patch, encoding="utf-8")
    except OSError as error:
        print_error(f"{file} cannot be written: {error.strerror or error}.", "Name another file with --write-patch.")
        return
    console.remark(f"The patch is in {file}: `patch -p1 < {shlex.quote(str(file))}` applies it.", style="bold")
