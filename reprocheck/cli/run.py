"""`reprocheck run`: N runs of the user's command, the verdict, the report."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reprocheck.cli.destination import Destination, FormatOption, OutputOption, destination
from reprocheck.cli.parameters import ENTRY, option, with_settings
from reprocheck.errors import EntryPointError, ReprocheckError
from reprocheck.settings import OPTIONS

if TYPE_CHECKING:
    from reprocheck.cli.console import Console
    from reprocheck.model import Check, EntryPoint
    from reprocheck.settings import Draw, Settings

AttachOption = Annotated[
    bool,
    option("--attach", help="Pack a failed check for a bug report, as `bundle` does."),
]
ValuesOption = Annotated[
    bool,
    option(
        "--with-values",
        help="Record the tensors that enter the operation that differs, for `replay.py`.",
    ),
]
LAUNCHERS = (
    "torchrun",
    "accelerate",
    "msrun",
    "mpirun",
    "deepspeed",
    "python",
    "python3",
    "bash",
    "sh",
    "uv",
    "poetry",
    "conda",
    "srun",
)
EXAMPLE = (
    "Name what to run, for example:\nreprocheck run train.py --epochs 1\nreprocheck run -m"
    " package.train\nreprocheck run -- torchrun --nproc-per-node 2 train.py"
)


@with_settings(*(option.name for option in OPTIONS))
def run(
    ctx: typer.Context,
    flags: dict[str, object],
    format: FormatOption = None,
    output_file: OutputOption = None,
    attach: AttachOption = False,
    with_values: ValuesOption = False,
) -> int:
    """Run the user's command and return the exit code of the verdict."""
    from reprocheck import settings
    from reprocheck.cli.console import Console
    from reprocheck.language import spoken

    held = settings.load(flags, Path.cwd())
    words = entry_words(ctx.meta[ENTRY])
    target = destination(format, output_file)
    console = Console(held, target)
    with spoken(held.lang):
        return perform(words, held, console, target, attach=attach, values=with_values)


def perform(
    words: Mapping[str, object],
    held: Settings,
    console: Console,
    target: Destination | None = None,
    *,
    shown_from: Path | None = None,
    search: bool = False,
    write_patch: Path | None = None,
    attach: bool = False,
    values: bool = False,
) -> int:
    """Make one check, from the entry point to the report, and return its exit code.

    shown_from   the folder that printed paths are relative to, if not the working directory; then
                 no next command is printed
    search       whether controls are tried until the cause is confirmed
    write_patch  the file for the patch that the search finds
    attach       whether a failed check is packed for a bug report
    values       whether to record the input tensors of the operation that differs
    """
    from reprocheck import launch
    from reprocheck.cli.failure import Interrupted

    entry = launch.entry_point(**words, python=interpreter(words, held))  # type: ignore[arg-type]
    folder = launch.prepare(held.output, entry.name)
    console.begin(title(entry))
    for name in _behind_script(words):
        console.message(
            f"{name} stands behind the script, so the script is given it; options of"
            " reprocheck stand before the script."
        )
    try:
        check = _record(entry, held, folder, console, search=search, values=values)
        if write_patch is not None:
            _write_patch(write_patch, check, console)
        from reprocheck.cli import summary  # with the report, loaded while the runs were under way

        summary.print_verdict(check, console)
        written = write(check, folder, console, target, held.draw)
    except KeyboardInterrupt:
        raise Interrupted(kept(folder)) from None
    finally:
        console.clear()
    page = summary.page(written=written, draw=held.draw)
    summary.print_place(check, console, Path(os.path.relpath(folder, shown_from)), page)
    if attach and check.verdict.exit_code:
        _attach(check, folder, console, values=values)
    if shown_from is None:
        if console.out.tty:  # to be pasted there; what a file takes stays masked
            check = replace(check, record=replace(check.record, entry_point=entry))
        summary.print_next(check, console)
    return check.verdict.exit_code


def entry_words(words: Sequence[str], command: str = "run") -> dict[str, object]:
    """Return the words from the entry point on, as the arguments of `launch.entry_point`.

    Raises EntryPointError if there is none.
    """
    example = EXAMPLE.replace("reprocheck run", f"reprocheck {command}")
    if not words:
        raise EntryPointError("There is nothing to run.", example)
    first, *rest = words
    if first == "--":
        if not rest:
            raise EntryPointError("There is no command after `--`.", example)
        return {"command": tuple(rest)}
    if first.startswith("-m"):
        module, *args = [first[2:], *rest] if len(first) > 2 else rest or [""]
        if not module:
            raise EntryPointError("There is no module after -m.", example)
        return {"module": module, "args": tuple(args)}
    if first == "-":
        raise EntryPointError(
            "A script on standard input can be read only once.", "Save it in a file, and name that."
        )
    if first in LAUNCHERS and not Path(first).exists():
        fix = f"Write it after `--`: reprocheck {command} -- {' '.join(words)}"
        raise EntryPointError(f"{first} is a command, not a Python script.", fix)
    return {"script": first, "args": tuple(rest)}


def _behind_script(words: Mapping[str, object]) -> Iterator[str]:
    """List reprocheck options given after the script, if nothing in the script has their name."""
    script, arguments = words.get("script"), words.get("args", ())
    if not isinstance(script, str) or not isinstance(arguments, tuple):
        return
    given = {word.partition("=")[0] for word in arguments}
    own = [option for option in OPTIONS if option.flag in given]
    if not own:
        return
    with suppress(OSError):
        source = Path(script).read_text(errors="replace")
        names = set(re.findall(r"\w+", source.replace("-", "_")))
        yield from (option.flag for option in own if option.name not in names)


def interpreter(words: Mapping[str, object], held: Settings) -> str | None:
    """Return the setting `python` for these words.

    If a command names its own interpreter, only the flag `--python` counts, and is refused.
    """
    typed = any(
        setting.name == "python" and setting.origin.startswith("--") for setting in held.provenance
    )
    if "command" in words and not typed:
        return None
    return held.python


def title(entry: EntryPoint) -> str:
    """Return the user's command as one would type it."""
    import shlex

    from reprocheck.redaction import Redaction

    words = entry.command
    if entry.kind != "command":
        words = ("python", *words[1:])
    return shlex.join(Redaction("folder").arguments(words))


def _record(
    entry: EntryPoint,
    held: Settings,
    folder: Path,
    console: Console,
    *,
    search: bool,
    values: bool,
) -> Check:
    """Run and explain the check, and return it.

    What only the verdict and the report need is loaded while the first run is under way, and what
    draws pictures while a difference is explained.
    """
    import threading

    from reprocheck.workflow.check import checked

    for_report = threading.Thread(target=_warm_up, args=(held.draw,), daemon=True)
    for_pictures = threading.Thread(target=_warm_up, args=(held.draw is not False,), daemon=True)
    console.meanwhile = {False: for_report.start}
    if not held.asks_for_modules:  # else a check that passes has further runs, too
        console.meanwhile[True] = for_pictures.start
    try:
        return checked(entry, held, folder, console, search=search, values=values)
    finally:
        console.clear()
        for warming in (for_report, for_pictures):
            if warming.is_alive():
                warming.join()


def _warm_up(draw: Draw) -> None:
    """Load what the reports need.

    Errors are ignored here, because they occur again, and are reported, when drawing begins.
    """
    with suppress(Exception):
        from reprocheck import report
        from reprocheck.cli import summary  # noqa: F401

        report.warm_up(draw)


def kept(folder: Path) -> str:
    """Describe what an interrupted check leaves; a folder without a run is removed."""
    from reprocheck import launch

    if not (folder / "record.json").exists():
        launch.discard(folder)
        return "Nothing was recorded yet."
    shown = os.path.relpath(folder)
    return f"What was recorded is kept in {shown}; `reprocheck report {shown}` draws it."


def write(
    check: Check, folder: Path, console: Console, target: Destination | None, draw: Draw
) -> bool:
    """Write the reports that the setting `draw` asks for, and what goes to `target`.

    Returns whether the reports could be written.

    What cannot be written is an error on stderr; the verdict, its exit code and the traces stand.
    """
    from reprocheck.cli.failure import print_error
    from reprocheck.workflow.check import written

    console.status("drawing the report")
    failure = written(check, folder, draw)
    console.clear()
    if failure is not None:
        print_error(failure.message, failure.fix)
    try:
        if target is not None:
            target.write(check)
    except ReprocheckError as error:
        print_error(error.message, error.fix)
    return failure is None


def _attach(check: Check, folder: Path, console: Console, *, values: bool) -> None:
    """Pack a check for a bug report, and print where the file is."""
    from reprocheck.cli import summary
    from reprocheck.cli.bundle import attached
    from reprocheck.cli.failure import print_error

    try:
        file = attached(check, folder, values=values)
    except ReprocheckError as error:
        print_error(error.message, error.fix)
        return
    summary.print_attachment(check, console, Path(os.path.relpath(file)))


def _write_patch(file: Path, check: Check, console: Console) -> None:
    """Write the patch that was found, and say how to apply it."""
    import shlex

    from reprocheck.cli.failure import print_error
    from reprocheck.files.atomic import put
    from reprocheck.report.controls import without_patch

    if not check.search or not check.search.patch:
        why = without_patch(check.search)
        console.remark(f"{file} was not written: {why}.", style="yellow")
        return
    try:
        put(file, check.search.patch.encode())
    except OSError as error:
        print_error(
            f"{file} cannot be written: {error.strerror or error}.",
            "Name another file with --write-patch.",
        )
        return
    console.remark(
        f"The patch is in {file}: `patch -p1 < {shlex.quote(str(file))}` applies it.", style="bold"
    )
