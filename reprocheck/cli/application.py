"""The Typer application: every command, and typer's errors turned into ours."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from reprocheck.cli import overview
from reprocheck.cli.compare import CompareCommand, compare
from reprocheck.cli.config import config
from reprocheck.cli.demo import demo
from reprocheck.cli.env import env
from reprocheck.cli.explain import explain
from reprocheck.cli.merge import merge
from reprocheck.cli.parameters import RunCommand
from reprocheck.cli.record import record
from reprocheck.cli.report import report
from reprocheck.cli.rules import rules
from reprocheck.cli.run import run
from reprocheck.cli.scan import scan
from reprocheck.errors import EXIT_INTERRUPTED, UsageError

HELP_NAMES = {"help_option_names": ["-h", "--help"]}


class Root(TyperGroup):
    """The group of commands; its help is the overview."""

    def get_help(self, ctx: Any) -> str:
        """The overview."""
        return overview.help_text()


app = typer.Typer(
    name="reprocheck",
    cls=Root,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=HELP_NAMES,
)


@app.callback(invoke_without_command=True)
def root(ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help=overview.OPTIONS["--version"])] = False) -> None:
    """Runs a training script twice and says whether the runs agree."""
    if version:
        overview.print_version()
        raise typer.Exit(0)
    if ctx.invoked_subcommand is None:
        overview.print_help()


for _command, _class in (
    (run, RunCommand),
    (explain, RunCommand),
    (record, RunCommand),
    (compare, CompareCommand),
    (merge, None),
    (report, None),
    (scan, None),
    (rules, None),
    (env, None),
    (config, None),
    (demo, None),
):
    app.command(_command.__name__, cls=_class, help=overview.COMMANDS[_command.__name__], context_settings=HELP_NAMES)(_command)


def invoke(words: list[str]) -> int:
    """Runs a command line and returns its exit code. Raises UsageError where it cannot be parsed."""
    try:
        code = app(args=words, prog_name="reprocheck", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        if not isinstance(error, _PARSE_ERROR):
            raise
        raise _usage_error(error, words) from None
    if code == EXIT_INTERRUPTED:  # typer's own answer to Ctrl-C; no command returns it
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


_PARSE_ERROR: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What typer raises for a command line that it cannot parse; older versions take the class from click."""


def _usage_error(error: Any, words: list[str]) -> UsageError:
    message = error.format_message()
    command = next((word for word in words if word in overview.COMMANDS), "")
    fix = f"`reprocheck {command} --help` lists the options.".replace("  ", " ")
    if command in ("run", "explain", "record") and "no such option" in message.lower():
        fix += " Options of the script stand after the script."
    return UsageError(message, fix)
