"""`reprocheck suite run`: all targets, checked once."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument, option
from reprocheck.cli.suite.night_file import FormatOption, OutputOption, night_file, write_night
from reprocheck.errors import ReprocheckError, UsageError

if TYPE_CHECKING:
    from reprocheck.cli.suite.night_view import NightView
    from reprocheck.suite.execution import Executor
    from reprocheck.suite.execution.local_executor import LocalExecutor
    from reprocheck.suite.execution.ray_cluster import RayExecutor
    from reprocheck.suite.history import History
    from reprocheck.suite.night import Options, Outcome
    from reprocheck.suite.targets import Suite

NamesArgument = Annotated[
    list[str] | None,
    argument(metavar="[TARGET]...", help="Targets by name or pattern (`resnet*`). [all]"),
]
TagOption = Annotated[
    list[str] | None,
    option("--tag", metavar="TAG", help="Targets with this tag; may be given several times."),
]
ShardOption = Annotated[str, option("--shard", metavar="I/N", help="Part I of N equal parts.")]
OnlyFailedOption = Annotated[
    bool, option("--only-failed", help="The targets that failed when they were last checked.")
]
RetriesOption = Annotated[
    int,
    option(
        "--retries", metavar="N", min=0, help="Check again what is not good, N times at most. [0]"
    ),
]
ResumeOption = Annotated[
    str,
    option("--resume", metavar="NIGHT|last", help="Go on with a night that was interrupted."),
]
JobsOption = Annotated[int, option("--jobs", metavar="N", min=1, help="Checks side by side. [1]")]
ExecutorOption = Annotated[
    str,
    option("--executor", metavar="local|ray", help="Where checks run: here, or on Ray. [local]"),
]
AddressOption = Annotated[
    str, option("--address", metavar="HOST:PORT|auto", help="The Ray cluster. [auto]")
]
RecordOption = Annotated[
    bool,
    option(
        "--record/--no-record",
        help=(
            "Record each target once at level module, to name the operation that differs later."
            " [record]"
        ),
    ),
]
FolderOption = Annotated[
    Path | None,
    option(
        "--folder",
        metavar="FOLDER",
        help="Where to keep the night, in place of the suite's folder.",
    ),
]
TwiceOption = Annotated[
    bool, option("--twice", help="Also where a night under way checks the same.")
]
QuietOption = Annotated[bool, option("-q", "--quiet", help="No progress.")]

DEFAULTS: Mapping[str, object] = {
    "retries": 0,
    "jobs": 1,
    "executor": "local",
    "address": "auto",
    "folder": None,
}
"""Of the options that a night which goes on is given again."""


def command(
    names: NamesArgument = None,
    tag: TagOption = None,
    shard: ShardOption = "",
    only_failed: OnlyFailedOption = False,
    retries: RetriesOption = 0,
    resume: ResumeOption = "",
    jobs: JobsOption = 1,
    executor: ExecutorOption = "local",
    address: AddressOption = "auto",
    record: RecordOption = True,
    folder: FolderOption = None,
    twice: TwiceOption = False,
    quiet: QuietOption = False,
    format: FormatOption = None,
    output_file: OutputOption = None,
) -> int:
    """Check all targets; return the exit code of the night."""
    from reprocheck.cli.suite.night_view import NightView
    from reprocheck.cli.suite.outcome import print_outcome
    from reprocheck.cli.terminal import standard_error, standard_output
    from reprocheck.suite import pages, reports, site, texts
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.night import Options
    from reprocheck.suite.night.folder import night_folder, prepare
    from reprocheck.suite.targets import load

    options = Options(
        names=tuple(names or ()),
        tags=tuple(tag or ()),
        shard=shard,
        only_failed=only_failed,
        retries=retries,
        resume=resume,
        record=record,
        twice=twice,
    )
    if options.resume and (names or tag or shard or only_failed):
        raise UsageError(
            "--resume goes on with the targets of that night.",
            "Leave out the names, --tag, --shard and --only-failed.",
        )
    file = night_file(format, output_file)
    suite = load(Path.cwd(), folder)
    prepare(suite.folder)
    view = NightView(quiet=quiet)
    same = _words(retries=retries, jobs=jobs, executor=executor, address=address, folder=folder)
    with open_suite(suite) as history, _executor(executor, jobs, address) as where:
        outcome = _run(suite, history, where, options, view, same)
        report = reports.read(history, outcome.night.id, suite)
        pages.write(report, night_folder(suite, outcome.night))
        written = site.write(history, suite)
    prints_report = file is not None and file.file is None
    out = standard_error() if prints_report else standard_output()
    print_outcome(outcome, report, suite, written.index, out, elsewhere=folder)
    if file is not None:
        write_night(file, report)
    if not outcome.night.shard or suite.home_history is None:  # else whoever merges it tells
        for sentence in texts.notify(suite.webhooks, report, suite.owners):
            standard_error().labelled("note:", sentence, "bold yellow")
    return outcome.exit_code


def _executor(name: str, jobs: int, address: str) -> LocalExecutor | RayExecutor:
    """Return the executor of that name. Raises UsageError if there is none."""
    if name == "local":
        from reprocheck.suite.execution.local_executor import LocalExecutor

        return LocalExecutor(jobs)
    if name == "ray":
        from reprocheck.suite.execution.ray_cluster import RayExecutor

        return RayExecutor(address)
    raise UsageError(f"--executor {name}: there is no such executor.", "Take local or ray.")


def _run(
    suite: Suite,
    history: History,
    executor: Executor,
    options: Options,
    view: NightView,
    same: Sequence[str],
) -> Outcome:
    """Run the night, and return its outcome.

    If the night is interrupted or cannot go on, the error message ends with the command that
    resumes it.

    same  the options of this command to repeat in that command
    """
    from reprocheck.cli.failure import Interrupted
    from reprocheck.suite import night

    try:
        return night.run(suite, history, executor, options, view)
    except KeyboardInterrupt:
        raise Interrupted(_kept(view, same)) from None
    except ReprocheckError as error:
        if view.night:
            error.fix = f"{error.fix} {_kept(view, same)}"
        raise
    finally:
        view.close()


def _kept(view: NightView, same: Sequence[str]) -> str:
    """Say what an interrupted night has recorded, and give the command that resumes it."""
    from reprocheck.language import count

    if not view.night:
        return "Nothing was checked yet."
    again = shlex.join(("reprocheck", "suite", "run", "--resume", view.night, *same))
    return f"Kept of this night: {count(view.checked, 'check')}. To go on: {again}"


def _words(**options: object) -> tuple[str, ...]:
    """Format options as typed on the command line, without those that have their defaults."""
    given = (item for item in options.items() if item[1] != DEFAULTS[item[0]])
    return tuple(word for name, value in given for word in (f"--{name}", str(value)))
