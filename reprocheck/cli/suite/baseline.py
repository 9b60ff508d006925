"""`reprocheck suite baseline`: accepted curves."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from reprocheck.cli.overview import table
from reprocheck.cli.parameters import HELP_NAMES, OneCommand, argument, option
from reprocheck.errors import UsageError

if TYPE_CHECKING:
    from reprocheck.suite.history import History
    from reprocheck.suite.model import Allow, Baseline, TargetCheck
    from reprocheck.suite.targets import Suite

COMMANDS = {
    "accept": "Accept curves of the last checks, or of a night.",
    "from": "Accept what a night or a CI job has measured.",
    "show": "Show the baselines: when, by whom and why they were accepted.",
    "diff": "Compare the last checks with the baselines, series by series.",
    "reset": "Remove the baselines of targets.",
    "export": "Write the baselines as text that can live in git.",
    "import": "Take baselines from a file of this or another program.",
}
EXAMPLES = (
    "reprocheck suite baseline diff resnet",
    'reprocheck suite baseline accept resnet --why "another cuDNN"',
    "reprocheck suite baseline export baselines.json",
)


class Group(TyperGroup):
    """Group the baseline commands, with help like that of the suite."""

    def get_help(self, ctx: Any) -> str:
        """Return the commands in their order, and examples."""
        return help_text()


command = typer.Typer(
    name="baseline",
    cls=Group,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings=HELP_NAMES,
)
NamesArgument = Annotated[
    list[str] | None,
    argument(metavar="[TARGET]...", help="Targets by name or pattern (`resnet*`)."),
]
NightOption = Annotated[
    str | None,
    option("--night", metavar="NIGHT", help="Of this night. [the last check of each target]"),
]
WhyOption = Annotated[
    str,
    option("--why", metavar="REASON", help="Why the numbers may be these."),
]


@command.callback(invoke_without_command=True)
def _alone(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        typer.echo(help_text())


def help_text() -> str:
    """Return what `reprocheck suite baseline` prints without a command, 80 columns wide."""
    return "\n".join(
        [
            "Usage: reprocheck suite baseline COMMAND [ARGS]...",
            "",
            "  Accepted curves: every bit of every series of one check of a target. Later",
            "  nights are held against them.",
            "",
            "Commands:",
            *table(COMMANDS),
            "",
            "Examples:",
            *(f"  {example}" for example in EXAMPLES),
            "",
            "`reprocheck suite baseline COMMAND --help` lists the options of one.",
        ]
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Open:
    suite: Suite
    history: History

    def names(self, asked: Sequence[str] | None) -> list[str] | None:
        """Return the named targets, including those that the suite no longer has.

        None if none was named.
        """
        if not asked:
            return None
        recorded = {baseline.target for baseline in self.history.baselines()}
        known = {target.name for target in self.suite.targets}
        found: list[str] = []
        for one in asked:
            gone = one in recorded and one not in known
            found += [one] if gone else [target.name for target in self.suite.select([one])]
        return list(dict.fromkeys(found))

    def checks(
        self, night: str | None, names: Sequence[str] | None, *, good: bool = False
    ) -> tuple[TargetCheck, ...]:
        """Return the checks of the named targets, or of all, in a night.

        Without a night, the last one of each target; `good`: the last good one.
        """
        from reprocheck.suite.baselines.newest import last_checks, of_night

        if night is not None:
            return of_night(self.history, night, names)
        wanted = names
        if wanted is None:
            wanted = [target.name for target in self.suite.targets if target.resume is None]
        found = last_checks(self.history, wanted, good=good)
        lacking = sorted(set(wanted).difference(check.target for check in found))
        if names and lacking:
            raise UsageError(
                f"The last nights have no check of {lacking[0]}.",
                f"Check it: reprocheck suite run {shlex.quote(lacking[0])}",
            )
        if good:
            from reprocheck.cli.suite import baseline_view as view

            view.without_good_check(lacking)
        return found

    def allow(self, target: str) -> Allow | None:
        """Return how far from its baseline the target's settings allow it to be.

        None if they say nothing.
        """
        return next((one.allow for one in self.suite.targets if one.name == target), None)

    def limits(self, target: str) -> Mapping[str, float]:
        """Return how far single series of a target may be from its baseline, relative."""
        return next((one.limits for one in self.suite.targets if one.name == target), {})


@contextmanager
def _opened() -> Iterator[_Open]:
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.night.folder import prepare
    from reprocheck.suite.targets import load

    suite = load(Path.cwd())
    prepare(suite.folder)
    with open_suite(suite) as history:
        yield _Open(suite=suite, history=history)


def _subcommand(function: Any) -> Any:
    """Make a function a command of the group, under its own name."""
    name = function.__name__.strip("_")
    return command.command(name, cls=OneCommand, context_settings=HELP_NAMES)(function)


@_subcommand
def accept(
    names: NamesArgument = None,
    why: WhyOption = "",
    night: NightOption = None,
    force: Annotated[bool, option("--force", help="Also of a check that is not good.")] = False,
    record: Annotated[
        bool,
        option("--record", help="Record the training more deeply now, and keep that."),
    ] = False,
) -> int:
    """Accept curves of the named targets, else all that have changed.

    Without --night the last check of each named target counts, and without names the last good one
    of each.
    """
    from reprocheck.cli.suite import baseline_view as view
    from reprocheck.suite import baselines
    from reprocheck.suite.baselines.accept import refuse, said, who_accepts
    from reprocheck.suite.night import deeper

    said(why)
    with _opened() as opened:
        asked = opened.names(names)
        checks = opened.checks(night, asked, good=asked is None and not force)
        if asked is None:
            checks = _to_accept(opened, checks, force=force)
        if not checks:
            view.nothing_to_accept()
            return 0
        refuse(checks, force=force)
        suite = opened.suite
        lacking = [check for check in checks if not deeper.is_recorded_in_night(suite, check)]
        for number, check in enumerate(lacking if record else (), start=1):
            view.recording(check.target, number, len(lacking))
            deeper.record_for(suite, check)
        recordings = {
            check.target: deeper.kept_place(check.target, check.key)
            for check in checks
            if deeper.is_recorded(suite, check)
        }
        before = _in_force(opened.history, checks)
        made = baselines.accept(
            opened.history,
            checks,
            why,
            who_accepts(suite.file.parent),
            force=force,
            recordings=recordings,
        )
        for baseline in made:
            deeper.adopt(suite, baseline)
            view.accepted(baseline, before[baseline.target], suite.baselines)
    return 0


@_subcommand
def from_(
    source: Annotated[
        str,
        argument(
            metavar="NIGHT|ARTIFACT",
            help="A night, or what a CI job has kept: a folder, its zip, or its history.sqlite.",
        ),
    ],
    names: NamesArgument = None,
    why: WhyOption = "",
    force: Annotated[bool, option("--force", help="Also of a check that is not good.")] = False,
) -> int:
    """Accept what a night, or the last night of a CI job, has measured.

    Of the named targets, else of all that have changed.
    """
    from reprocheck.cli.suite import baseline_view as view
    from reprocheck.suite import baselines
    from reprocheck.suite.baselines.accept import said, who_accepts
    from reprocheck.suite.baselines.newest import of_night

    said(why)
    with _opened() as opened, _measured(source, opened) as (there, night):
        asked = opened.names(names)
        checks = of_night(there, night, asked)
        known = {target.name for target in opened.suite.targets}
        checks = tuple(check for check in checks if check.target in known)
        if asked is None:
            checks = _to_accept(opened, checks, force=force)
        if not checks:
            view.nothing_to_accept()
            return 0
        who = who_accepts(opened.suite.file.parent)
        before = _in_force(opened.history, checks)
        for baseline in baselines.accept(opened.history, checks, why, who, force=force):
            view.accepted(baseline, before[baseline.target], opened.suite.baselines)
    return 0


@contextmanager
def _measured(source: str, opened: _Open) -> Iterator[tuple[History, str]]:
    """Yield the history that has the checks, and the night.

    One of the suite, else the last one of another history.
    """
    from reprocheck.suite.history.artifact import artifact
    from reprocheck.suite.night.folder import is_id

    if is_id(source) and not Path(source).exists():
        yield opened.history, opened.history.night(source).id
        return
    with artifact(Path(source)) as there:
        nights = [night.id for night in there.nights() if there.final(night.id)]
        if not nights:
            raise UsageError(f"{source} has no night with a check.", "Name another one.")
        yield there, nights[-1]


def _to_accept(
    opened: _Open, checks: Sequence[TargetCheck], *, force: bool
) -> tuple[TargetCheck, ...]:
    """Return the checks to accept if no target is named.

    Good checks (any, if `force`) whose curves differ from their baselines. A resume check has no
    curves.
    """
    from reprocheck.cli.suite import baseline_view as view
    from reprocheck.suite.baselines.accept import apart
    from reprocheck.suite.curves import unpack

    resumes = {target.name for target in opened.suite.targets if target.resume is not None}
    with_curves = [check for check in checks if check.target not in resumes]
    good = [check for check in with_curves if force or check.good]
    view.left_out([check for check in with_curves if check not in good])
    changed = []
    for check in good:
        baseline = opened.history.baseline(check.target, check.key)
        if baseline is None or apart(unpack(check.curves), baseline, check):
            changed.append(check)
    return tuple(changed)


def _in_force(history: History, checks: Sequence[TargetCheck]) -> dict[str, Baseline | None]:
    """Return the baselines that checks are held against before they are accepted, by target."""
    from reprocheck.suite.baselines import baseline_for

    return {check.target: baseline_for(history, check.target, check.key) for check in checks}


@_subcommand
def show(
    names: NamesArgument = None,
    all: Annotated[bool, option("--all", help="Also those that were replaced.")] = False,
) -> int:
    """Show the baselines that count: when, by whom and why they were accepted."""
    from reprocheck.cli.suite import baseline_view as view

    with _opened() as opened:
        found = _baselines(opened, names)
        if not all:
            found = current(found)
        for baseline in found:
            view.shown(baseline, opened.allow(baseline.target))
        if not found:
            view.no_baseline()
    return 0


def _baselines(opened: _Open, names: Sequence[str] | None) -> list[Baseline]:
    """Return the baselines of the named targets, or of all, newest first by target."""
    asked = opened.names(names)
    return [
        baseline
        for baseline in opened.history.baselines()
        if asked is None or baseline.target in asked
    ]


def current(baselines: Iterable[Baseline]) -> list[Baseline]:
    """Return the baselines that count, from baselines sorted newest first.

    The first for each target and key.
    """
    newest: dict[tuple[str, str], Baseline] = {}
    for baseline in baselines:
        newest.setdefault((baseline.target, baseline.key.digest), baseline)
    return list(newest.values())


@_subcommand
def diff(names: NamesArgument = None, night: NightOption = None) -> int:
    """Compare the last checks with the baselines, series by series. Exit code 1: too far apart."""
    from reprocheck.cli.suite import baseline_view as view
    from reprocheck.suite.baselines import allowed_between, baseline_for
    from reprocheck.suite.baselines.accept import apart
    from reprocheck.suite.curves import unpack

    too_far = False
    with _opened() as opened:
        for check in opened.checks(night, opened.names(names)):
            baseline = baseline_for(opened.history, check.target, check.key)
            if baseline is None or not check.curves:
                view.without(check, baseline)
                continue
            limits = opened.limits(check.target)
            allowed = allowed_between(opened.allow(check.target), baseline, check.key, limits)
            differences = apart(unpack(check.curves), baseline, check)
            view.compared(check, baseline, differences, allowed)
            too_far |= bool(allowed.exceeded(differences))
    return int(too_far)


@_subcommand
def reset(
    names: NamesArgument = None,
    key: Annotated[
        str,
        option("--key", metavar="DIGEST", help="Those of this environment key alone."),
    ] = "",
) -> int:
    """Remove the baselines of targets: the next accepted check starts anew."""
    from reprocheck.cli.suite import baseline_view as view

    if not names:
        raise UsageError(
            "No target is named.", "reprocheck suite baseline reset TARGET, or '*' for all."
        )
    with _opened() as opened:
        found = _baselines(opened, names)
        wanted = [baseline for baseline in found if baseline.key.digest.startswith(key)]
        if not wanted:
            view.no_baseline()
            return 0
        removed = 0
        for baseline in current(wanted):
            removed += opened.history.reset(baseline.target, baseline.key)
        view.removed(removed, sorted({baseline.target for baseline in wanted}))
    return 0


@_subcommand
def export(
    file: Annotated[Path, argument(metavar="FILE.json", help="`-` is standard output.")],
    names: NamesArgument = None,
) -> int:
    """Write the baselines that count as text that can live in git: a value a line."""
    from reprocheck.cli.suite import baseline_view as view
    from reprocheck.suite.baselines import document

    with _opened() as opened:
        found = current(_baselines(opened, names))
        content = document.export(found)
        if str(file) == "-":
            view.printed(content)
            return 0
        document.write(content, file)
        view.written(file, len(found))
    return 0


@_subcommand
def import_(
    file: Annotated[Path, argument(metavar="FILE", help="A file, or a folder of event files.")],
    names: NamesArgument = None,
    why: WhyOption = "",
    format: Annotated[
        str | None,
        option(
            "--format",
            metavar="NAME",
            help="megatron, torchtitan or csv. [as it looks]",
        ),
    ] = None,
    series: Annotated[
        list[str] | None,
        option(
            "--series",
            metavar="THEIRS=OURS",
            help="A series of the file, and its name here; may be given again.",
        ),
    ] = None,
) -> int:
    """Take baselines from a file: of `export`, Megatron-LM, torchtitan or CSV."""
    from reprocheck.cli.suite import baseline_view as view
    from reprocheck.suite.baselines import imports
    from reprocheck.suite.baselines.accept import who_accepts

    with _opened() as opened:
        asked = opened.names(names)
        if imports.is_ours(file):
            known = [target.name for target in opened.suite.targets]
            taken = imports.ours(opened.history, file, known, asked)
        else:
            who = who_accepts(opened.suite.file.parent)
            taken = imports.foreign(
                opened.history,
                file,
                asked or (),
                why=why,
                who=who,
                format=format,
                names=imports.renamed(series or ()),
            )
    view.imported(taken)
    return 0
