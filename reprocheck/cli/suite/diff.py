"""`reprocheck suite diff`: what the targets compute at two revisions of the code."""

from __future__ import annotations

from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.destination import Formats, destination
from reprocheck.cli.parameters import argument, option
from reprocheck.cli.suite.run import JobsOption, NamesArgument, QuietOption, TagOption

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.suite.diff.compare import Request
    from reprocheck.suite.diff.result import Compared, TargetDiff
    from reprocheck.suite.target import Target
    from reprocheck.suite.targets import Suite

FORMATS = Formats(
    names=("json", "md", "github"), suffixes={".json": "json", ".md": "md"}, called="format"
)
HEADS = {
    0: ("EQUAL", "bold green"),
    1: ("DIFFERS", "bold red"),
    3: ("INCONCLUSIVE", "bold yellow"),
    4: ("FAILED", "bold red"),
}
"""What stands first, by exit code, and its style."""
FirstArgument = Annotated[
    str, argument(metavar="REV-A", help="A commit, branch or tag; `.`: the working tree.")
]
SecondArgument = Annotated[str, argument(metavar="REV-B", help="What is compared with it.")]
OptionsAOption = Annotated[
    str,
    option("--options-a", metavar="WORDS", help="What is added to the commands at REV-A."),
]
OptionsBOption = Annotated[
    str,
    option("--options-b", metavar="WORDS", help="What is added to the commands at REV-B."),
]
RunsOption = Annotated[
    int,
    option(
        "--runs",
        metavar="N",
        min=1,
        help="How often each side is run; 2 or more show the noise of each. [1]",
    ),
]
FormatOption = Annotated[
    str | None,
    option("--format", metavar="|".join(FORMATS.names), help="Print it so, or write it to -o."),
]
OutputOption = Annotated[
    str | None,
    option("-o", metavar="FILE|-", help="File to write it to, its format taken from the name."),
]


def command(
    first: FirstArgument,
    second: SecondArgument,
    names: NamesArgument = None,
    tag: TagOption = None,
    options_a: OptionsAOption = "",
    options_b: OptionsBOption = "",
    runs: RunsOption = 1,
    jobs: JobsOption = 1,
    quiet: QuietOption = False,
    format: FormatOption = None,
    output_file: OutputOption = None,
) -> int:
    """Compare two revisions; return 0 if they are equal, 1 if they differ, 3 or 4 as `compare`."""
    from reprocheck.cli.terminal import standard_error, standard_output
    from reprocheck.suite.diff.compare import Request
    from reprocheck.suite.pages import diff
    from reprocheck.suite.targets import load

    file = destination(format, output_file, FORMATS)
    suite = load(Path.cwd())
    chosen = suite.select(names or (), tag or ())
    targets = [one for one in chosen if names or one.resume is None]
    request = Request(revisions=(first, second), options=(options_a, options_b), runs=runs)
    compared = _compare(suite, targets, request, jobs, quiet=quiet)
    prints_format = file is not None and file.file is None
    _print(compared, suite, standard_error() if prints_format else standard_output())
    if file is not None:
        file.put(diff.render(compared, file.format))
    return compared.exit_code


def _compare(
    suite: Suite, targets: list[Target], request: Request, jobs: int, *, quiet: bool
) -> Compared:
    from reprocheck.cli.failure import Interrupted
    from reprocheck.cli.suite.night_view import NightView
    from reprocheck.cli.terminal import standard_error
    from reprocheck.suite.diff.compare import compare
    from reprocheck.suite.execution.local_executor import LocalExecutor
    from reprocheck.suite.night.folder import prepare

    prepare(suite.folder)
    view = NightView(quiet=quiet)
    try:
        with LocalExecutor(jobs) as executor:
            return compare(suite, targets, request, executor, view, standard_error().paragraph)
    except KeyboardInterrupt:
        raise Interrupted("Both worktrees are removed, and nothing is kept.") from None
    finally:
        view.close()


def _print(compared: Compared, suite: Suite, out: Stream) -> None:
    from reprocheck.suite.pages import diff

    head, style = HEADS[compared.exit_code]
    out.labelled(head, f"{compared.first.shown} → {compared.second.shown}", style)
    out.paragraph(diff.headline(compared), indent=2)
    for target in compared.targets:
        _print_target(target, compared, suite, out)


def _print_target(target: TargetDiff, compared: Compared, suite: Suite, out: Stream) -> None:
    from reprocheck.suite.pages import diff

    style = "" if target.outcome == "equal" else "bold"
    text = f"{target.outcome}. {diff.sentence(target, compared)}".replace("`", "")
    out.labelled(target.target, text, style, indent=2)
    if target.operation:
        out.paragraph(target.operation, indent=4)
    if target.suspect.source:
        out.line(f"    {target.suspect.source}", "bold")
    for row in target.suspect.changed:
        out.line(f"      {row}")
    if target.suspect.report:
        out.line(f"    {relpath(suite.folder / target.suspect.report)}")
