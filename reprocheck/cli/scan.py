"""`reprocheck scan`: sources of randomness in source code, found without running it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.destination import did_you_mean, named_file
from reprocheck.cli.parameters import argument, option
from reprocheck.errors import ReportError, UsageError

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.scan import Result
    from reprocheck.scan.options import Options

FORMATS = ("text", "json", "sarif", "github")
STDIN = Path("-")
MANY = 30
"""Files from which a progress bar is worth its place."""


def _complete_format(incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


def _complete_code(incomplete: str) -> list[str]:
    from reprocheck.rules import catalogue

    return [
        name
        for entry in catalogue()
        if entry.scan
        for name in (entry.code, entry.name)
        if name.lower().startswith(incomplete.lower())
    ]


PathsArgument = Annotated[
    list[Path] | None, argument(metavar="[PATH]...", help="Files and folders; -: stdin. [.]")
]
SelectOption = Annotated[
    list[str] | None,
    option(
        "--select",
        metavar="CODE",
        help="Only these rules: codes, prefixes of codes, names.",
        autocompletion=_complete_code,
    ),
]
IgnoreOption = Annotated[
    list[str] | None,
    option("--ignore", metavar="CODE", help="Not these rules.", autocompletion=_complete_code),
]
ExcludeOption = Annotated[
    list[str] | None,
    option("--exclude", metavar="PATTERN", help="Leave out these files and folders."),
]
FormatOption = Annotated[
    str | None,
    option(
        "--format",
        metavar="|".join(FORMATS),
        help="How to print. [text]",
        autocompletion=_complete_format,
    ),
]
OutputOption = Annotated[
    str | None, option("-o", metavar="FILE|-", help="File to write to; -: stdout.")
]
BaselineOption = Annotated[
    Path | None,
    option("--baseline", metavar="FILE", help="Known findings, which are not reported again."),
]
WriteBaselineOption = Annotated[
    Path | None,
    option(
        "--write-baseline",
        metavar="FILE",
        help="Write what is found into FILE, as known findings.",
    ),
]
StdinFilenameOption = Annotated[
    Path | None,
    option("--stdin-filename", metavar="PATH", help="The file whose text stdin holds, with -."),
]
DiffOption = Annotated[
    bool, option("--diff", help="Print what --fix would change, and change nothing.")
]
FixOption = Annotated[bool, option("--fix", help="Fix what can be fixed safely.")]
ForceOption = Annotated[
    bool, option("--force", help="With --fix: write over uncommitted changes, too.")
]
ExitZeroOption = Annotated[bool, option("--exit-zero", help="Exit 0 even with findings.")]
NoCacheOption = Annotated[
    bool, option("--no-cache", help="Neither use nor keep results of earlier scans.")
]
JobsOption = Annotated[
    int | None,
    option("--jobs", metavar="N", help="Number of processes. [one per core]"),
]


def scan(
    paths: PathsArgument = None,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    exclude: ExcludeOption = None,
    format: FormatOption = None,
    output_file: OutputOption = None,
    baseline: BaselineOption = None,
    write_baseline: WriteBaselineOption = None,
    stdin_filename: StdinFilenameOption = None,
    diff: DiffOption = False,
    fix: FixOption = False,
    force: ForceOption = False,
    exit_zero: ExitZeroOption = False,
    no_cache: NoCacheOption = False,
    jobs: JobsOption = None,
) -> int:
    """Find what can make runs differ, in source code, without running it.

    Exit 1 on findings of severity error or warning.
    """
    name, file = _destination(format, output_file)
    _refuse(diff=diff, fix=fix, jobs=jobs)
    from reprocheck.scan import baseline as baselines, options
    from reprocheck.scan.cache import default_folder

    given = _given(paths or [], stdin_filename)
    wanted = [] if given else _existing(paths or [Path()])
    whole = [] if select or ignore or exclude else wanted
    project = options.load(Path.cwd()).with_words(select, ignore, exclude)
    known = None if write_baseline is not None else baseline or project.baseline
    cache = None if no_cache or given else default_folder()

    def scanned() -> Result:
        result = _scanned(wanted, project, given, cache, jobs)
        return result if known is None else baselines.compared(result, known, whole)

    result = scanned()
    if write_baseline is not None:
        return _write_baseline(result, write_baseline, whole)
    if diff:
        return _show_difference(result, file, given, exit_zero=exit_zero)
    if fix and given:
        given = _print_fixed(result, given)
        return _exit_code(scanned(), exit_zero=exit_zero)
    if fix and _write_fixes(result, force=force):
        result = scanned()
    _write(result, name, file)
    return _exit_code(result, exit_zero=exit_zero)


def _scanned(
    paths: Sequence[Path],
    project: Options,
    given: Mapping[Path, bytes],
    cache: Path | None,
    jobs: int | None,
) -> Result:
    """Return the findings in files and folders, without those that the project ignores."""
    from reprocheck.scan import scan as run
    from reprocheck.scan.options import without

    with _progress() as told:
        result = run(
            paths,
            select=project.select,
            ignore=project.ignore,
            exclude=project.exclude,
            libraries=project.libraries,
            given=given,
            cache=cache,
            jobs=jobs,
            progress=told,
        )
    return without(result, project.per_file_ignores, project.folder)


def _refuse(*, diff: bool, fix: bool, jobs: int | None) -> None:
    """Raise UsageError for options that exclude each other, or for no process at all."""
    if diff and fix:
        raise UsageError(
            "--diff and --fix exclude each other.",
            "Take --diff to see the changes, --fix to make them.",
        )
    if jobs is not None and jobs < 1:
        raise UsageError(f"--jobs {jobs}: at least one process is needed.", "Take 1 or more.")


def _given(paths: list[Path], stdin_filename: Path | None) -> dict[Path, bytes]:
    """Return the text on stdin by the path it stands for, if `-` is given. Raises UsageError."""
    from reprocheck.scan.files import shown

    if STDIN not in paths:
        if stdin_filename is not None:
            raise UsageError(
                "--stdin-filename is for `reprocheck scan -` alone.", "Write - as the path."
            )
        return {}
    if len(paths) > 1:
        raise UsageError(
            "- cannot stand beside other paths.", "Scan the other paths by a command of their own."
        )
    path = stdin_filename or STDIN
    return {Path(shown(path.absolute())): sys.stdin.buffer.read()}


def _destination(format: str | None, output: str | None) -> tuple[str, Path | None]:
    """Return the format, and the file to write; None: stdout. Raises UsageError."""
    from reprocheck.settings import nearest

    file = named_file(output)
    if format is None:
        from reprocheck.scan.formats import SUFFIXES

        format = SUFFIXES.get(Path(output or "").suffix.lower(), "text")
    if format not in FORMATS:
        fix = did_you_mean(nearest(format, FORMATS), FORMATS)
        raise UsageError(f"--format {format}: scan has no such format.", fix)
    if file is not None:
        try:
            with file.open("ab"):
                pass
        except OSError as error:
            raise ReportError(
                f"{file} cannot be written: {error.strerror or error}.",
                "Name another file with -o.",
            ) from None
    return format, file


def _existing(paths: list[Path]) -> list[Path]:
    for path in paths:
        try:
            path.lstat()
        except OSError as error:
            raise UsageError(
                f"{path}: {error.strerror or error}.", "Name files and folders that exist."
            ) from None
        except ValueError:
            raise UsageError(
                f"{path!r} is not a path.", "Name files and folders that exist."
            ) from None
    return paths


def _exit_code(result: Result, *, exit_zero: bool) -> int:
    """Return 1 for findings of severity error or warning, 2 if not one file could be read."""
    if not result.files and result.unreadable:
        return 2
    return int(result.failed and not exit_zero)


def _write(result: Result, name: str, file: Path | None) -> None:
    from reprocheck.cli.terminal import standard_error, standard_output
    from reprocheck.scan.formats import render, summary, text

    out, err = standard_output(), standard_error()
    if file is not None:
        _put(file, render(result, name).encode("utf-8", "replace"))
    elif name == "text":
        for row in text.rows(result, out.width):
            out.line(out.joined(*row))
    else:
        out.data(render(result, name).encode())
    if name != "text":
        for sentence in filter(None, (*text.left_out(result), text.gone(result))):
            err.paragraph(sentence)
    if file is not None:
        err.paragraph(f"{summary(result)} {file}")
    if not result.files and not result.unreadable:
        err.paragraph("No Python files and notebooks there.", style="yellow")


def _put(file: Path, data: bytes) -> None:
    """Write a file that `-o` names. Raises ReportError."""
    from reprocheck.files.atomic import put

    try:
        put(file, data)
    except OSError as error:
        raise ReportError(
            f"{file} cannot be written: {error.strerror or error}.", "Name another file with -o."
        ) from None


def _write_baseline(result: Result, file: Path, scanned: list[Path]) -> int:
    from reprocheck.cli.terminal import standard_error
    from reprocheck.scan import baseline
    from reprocheck.scan.formats import counted, text

    baseline.write(file, result.findings, scanned)
    err = standard_error()
    for sentence in text.left_out(result):
        err.paragraph(sentence)
    err.paragraph(f"{file} holds {counted(len(result.findings), 'finding')} as known.")
    return 0


def _show_difference(
    result: Result, file: Path | None, given: Mapping[Path, bytes], *, exit_zero: bool
) -> int:
    from reprocheck.cli.terminal import standard_error, standard_output
    from reprocheck.fixes.edits.difference import difference
    from reprocheck.scan import patched
    from reprocheck.scan.formats import summary

    changed = patched(result, given)
    shown = difference(changed, given)
    if file is not None:
        _put(file, shown.encode("utf-8", "replace"))
    else:
        out = standard_output()
        for row in shown.splitlines():
            style = "bold"
            if not row.startswith(("---", "+++")):
                style = {"+": "green", "-": "red", "@": "cyan"}.get(row[:1], "")
            out.line(row, style)
    standard_error().paragraph(f"{summary(result)} {len(changed)} of the files would be changed.")
    return _exit_code(result, exit_zero=exit_zero)


def _print_fixed(result: Result, given: Mapping[Path, bytes]) -> dict[Path, bytes]:
    """Print the text of stdin with its findings fixed, and return that text by path."""
    from reprocheck.cli.terminal import standard_error, standard_output
    from reprocheck.scan import patched
    from reprocheck.scan.formats import summary
    from reprocheck.scan.source import encoding

    ((path, before),) = given.items()
    after = patched(result, given).get(path)
    data = before
    if after is not None:
        data = after.encode(encoding(before))
    standard_output().data(data)
    standard_error().paragraph(summary(result))
    return {path: data}


def _write_fixes(result: Result, *, force: bool) -> bool:
    """Write the fixes of all fixable findings to their files.

    Raises UsageError if the git tree has uncommitted changes, unless `force`.
    """
    from reprocheck.cli.terminal import standard_error
    from reprocheck.fixes.edits.difference import dirty, write
    from reprocheck.scan import patched
    from reprocheck.scan.files import shown

    changed = patched(result)
    if changed and not force and (first := dirty(changed)):
        raise UsageError(
            f"--fix would write over changes that are not committed ({first}).",
            "Commit or stash them, see --diff, or add --force.",
        )
    write(changed)
    err: Stream = standard_error()
    for path in sorted(changed):
        err.paragraph(f"fixed {shown(path)}")
    if not changed:
        err.paragraph("Nothing here can be fixed automatically.")
    return bool(changed)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar on stderr, if it is a terminal and there is enough to do."""
    from reprocheck.cli.terminal import standard_error

    err = standard_error()
    if not err.live:
        yield None
        return
    bar = err.bar()
    task = bar.add_task("scanning", total=0)

    def told(done: int, total: int) -> None:
        if total >= MANY:
            bar.update(task, completed=done, total=total)
            bar.start()

    try:
        yield told
    finally:
        bar.stop()
