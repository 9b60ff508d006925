"""Run `reprocheck resume`: one run goes on behind a checkpoint, another resumes from it.

Both are compared.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reprocheck.cli.destination import OutputOption, destination
from reprocheck.cli.explain import PatchOption, writable
from reprocheck.cli.parameters import ENTRY, option, with_settings
from reprocheck.errors import ReprocheckError, UsageError
from reprocheck.resume.request import GO_ON, PLACES, TWICE, WITHIN

if TYPE_CHECKING:
    from reprocheck.cli.console import Console
    from reprocheck.cli.destination import Destination
    from reprocheck.model import EntryPoint
    from reprocheck.resume.model import ResumeCheck
    from reprocheck.resume.request import Asked
    from reprocheck.settings import Draw, Settings

TAKEN_FROM_RUN = (
    "rtol", "atol", "timeout", "output", "keep", "python", "show_output", "draw",
    "control", "seed", "deterministic", "quiet", "verbose", "color",
)  # fmt: skip
"""The options of `run` that mean the same here."""
LABEL = 10

WithOption = Annotated[
    str,
    option(
        "--resume-with",
        metavar="'ARGS'",
        help="Add ARGS to the command of the resumed run; {checkpoint} stands for the path,"
        " {iteration} for the number of updates.",
    ),
]
PatternOption = Annotated[
    str,
    option("--checkpoint", metavar="PATTERN", help="Which files are the checkpoint: 'out/*.pt'."),
]
AtOption = Annotated[
    list[str] | None,
    option(
        "--at",
        metavar="|".join((*PLACES, TWICE, "N")),
        help="Where to stop: at the first checkpoint, one at the end of an epoch, one in the second"
        " epoch, or the first after N updates; twice: resume the resumed run. May be given several"
        " times. The first three by default.",
    ),
]
StepsOption = Annotated[
    int,
    option(
        "--steps",
        metavar="N",
        min=1,
        help=f"Iterations within which the script writes a checkpoint. [{WITHIN}]",
    ),
]
WorkdirOption = Annotated[
    str,
    option(
        "--workdir",
        metavar="copy",
        help="Where runs work: each in a copy of the working directory. [copy]",
    ),
]
ReportOption = Annotated[
    str | None,
    option(
        "--format",
        metavar="html|md|json",
        help="Print this report instead, or write it to -o.",
    ),
]
InterruptOption = Annotated[
    str,
    option(
        "--interrupt",
        metavar="term|kill",
        help="End another run by this signal, two updates behind the first checkpoint, and resume"
        " from what it left.",
    ),
]
RanksOption = Annotated[
    int | None,
    option(
        "--ranks",
        metavar="N",
        min=1,
        help="Resume with N ranks, by the option of the launcher: torchrun, accelerate launch,"
        " mpirun, srun, msrun…",
    ),
]
GoOnOption = Annotated[
    int,
    option(
        "--go-on",
        metavar="M",
        min=1,
        help=f"Iterations behind the checkpoint that are compared. [{GO_ON}]",
    ),
]


ExplainOption = Annotated[
    bool,
    option(
        "--explain",
        help="Where the resume is not exact, put back what was lost in further runs, which confirms"
        " it. `reprocheck explain --resume` is the same.",
    ),
]


@with_settings(*TAKEN_FROM_RUN)
def resume(
    ctx: typer.Context,
    flags: dict[str, object],
    resume_with: WithOption = "",
    checkpoint: PatternOption = "",
    at: AtOption = None,
    interrupt: InterruptOption = "",
    ranks: RanksOption = None,
    steps: StepsOption = WITHIN,
    go_on: GoOnOption = GO_ON,
    explain: ExplainOption = False,
    write_patch: PatchOption = None,
    workdir: WorkdirOption = "copy",
    format: ReportOption = None,
    output_file: OutputOption = None,
) -> int:
    """Return the exit code of the verdict."""
    from reprocheck import launch, settings
    from reprocheck.cli.run import entry_words, interpreter
    from reprocheck.resume.external_checkpoint import absolute
    from reprocheck.resume.launchers import refuse_ranks, with_ranks
    from reprocheck.resume.report.formats import known
    from reprocheck.resume.request import Asked, places, refuse, refuse_signal, words

    if workdir != "copy":
        raise UsageError(
            f"--workdir {workdir}: a resumed run starts from a snapshot, never from your folder.",
            "Leave it out: each run works in a copy.",
        )
    held = settings.load(flags, Path.cwd())
    named = entry_words(ctx.meta[ENTRY], "resume")
    target = destination(format, output_file)
    if target is not None:
        known(target.format)
    if write_patch is not None:
        writable(write_patch)
    words(resume_with)
    refuse_signal(interrupt)
    refuse_ranks(ranks or 0, with_others={"--explain": explain, "--interrupt": interrupt})
    asked = Asked(
        at=places(at or ()),
        within=steps,
        go_on=go_on,
        resume_with=resume_with,
        interrupt=interrupt,
        ranks=ranks or 0,
        pattern=absolute(checkpoint, Path.cwd()),
        explain=explain,
    )
    entry = launch.entry_point(**named, python=interpreter(named, held))  # type: ignore[arg-type]
    refuse(entry)
    if ranks:
        with_ranks(entry.command, ranks)  # refused before anything is made
    return _perform(entry, held, asked, target, write_patch)


def _perform(
    entry: EntryPoint,
    held: Settings,
    asked: Asked,
    target: Destination | None,
    write_patch: Path | None,
) -> int:
    """Make the check, from the report folder to the place of the report; return its exit code."""
    from reprocheck import launch
    from reprocheck.cli.console import Console
    from reprocheck.cli.failure import Interrupted
    from reprocheck.cli.run import kept, title
    from reprocheck.resume.check import checked
    from reprocheck.resume.report.formats import FORMATS

    folder = launch.prepare(held.output, entry.name)
    # how many runs and iterations there are is known only while they are under way
    console = Console(replace(held, steps=None), target)
    console.begin(title(entry))
    try:
        check = checked(entry, held, folder, console, asked)
    except KeyboardInterrupt:
        raise Interrupted(kept(folder)) from None
    finally:
        console.clear()
    print_check(check, console)
    drawn = write(check, folder, held.draw)
    if target is not None:
        target.put(FORMATS[target.format].render(check))
    if write_patch is not None:
        _write_patch(write_patch, check, console)
    _print_place(console, Path(os.path.relpath(folder)), drawn)
    return check.exit_code


def _write_patch(file: Path, check: ResumeCheck, console: Console) -> None:
    """Write the patch that was tried, or say that there is none. Raises ReportError."""
    from reprocheck.resume.records import put

    repairs = [one.repair for one in check.outcomes if one.repair and one.repair.patch]
    if not repairs:
        console.out.labelled("patch", "none that helps", indent=2, label_width=LABEL)
        return
    put(file.parent, file.name, repairs[0].patch.encode())


def write(check: ResumeCheck, folder: Path, draw: Draw) -> str:
    """Write the reports, only report.json if `draw` is False.

    Returns the file for people to open, "" if none could be written.
    """
    from reprocheck.cli.failure import print_error
    from reprocheck.resume.report import formats

    opened = "json" if draw is False else "html"
    try:
        formats.write(check, folder, ["json"] if draw is False else None)
    except ReprocheckError as error:
        print_error(error.message, error.fix)
        return ""
    return formats.FORMATS[opened].filename


def print_check(check: ResumeCheck, console: Console) -> None:
    """Print the verdict and what follows from it; only one line if quiet."""
    from reprocheck.cli.full_view import print_log
    from reprocheck.cli.labels import Labels
    from reprocheck.cli.sentences import STYLES
    from reprocheck.model.verdict import TONES
    from reprocheck.resume.report.rows import next_command, sentence, terminal_blocks

    out = console.out
    decisive = check.decisive
    if console.quiet:
        out.line(f"{check.title}: {sentence(decisive.reason)}")
        return
    out.line(check.title, STYLES[TONES[check.exit_code]])
    several = len(check.outcomes) > 1
    for outcome in check.outcomes:
        if several:
            out.line()
            out.line(f"{outcome.place.name}: {outcome.title}", "bold")
        out.paragraph(sentence(outcome.reason), indent=2)
        Labels(out, LABEL).blocks(terminal_blocks(outcome))
        run = outcome.resumed or outcome.continued
        if run is not None and outcome.verdict == "script_failed":
            print_log(run, out)
    for said in check.caveats[:3]:
        out.labelled("caveat", said, "dim", indent=2, label_width=LABEL)
    following = next_command(check)
    if following:
        out.labelled("next", following, indent=2, label_width=LABEL)


def _print_place(console: Console, folder: Path, file: str) -> None:
    from reprocheck.cli.labels import Labels

    place = str(folder / file) if file else str(folder)
    if console.quiet:
        console.out.line(place)
        return
    Labels(console.out, LABEL).row("report" if file else "recorded", place)
