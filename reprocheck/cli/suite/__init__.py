"""`reprocheck suite COMMAND`: many targets, checked every night. One module a command, as beside
this folder; each is imported when it is asked for.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup

from reprocheck.cli.parameters import HELP_NAMES, OneCommand

COMMANDS = {
    "init": "Write a table of targets from the scripts in a folder.",
    "list": "List the targets.",
    "run": "Check all targets, and report what changed since the last nights.",
    "show": "Show a night, or a target in it.",
    "report": "Draw the pages of the suite again, without running.",
    "serve": "Serve the pages of the suite on this machine.",
    "history": "Print or export what was recorded.",
    "baseline": "Accept, show, compare, reset, import or export baselines.",
    "bisect": "Find the commit or package since which a target differs.",
    "merge": "Join the shards of a night.",
}


class Suite(TyperGroup):
    """The commands of the suite, each made when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        return _made(cmd_name)


@cache
def _made(name: str) -> Any:
    """A command from its module: `command` there is its function, or its group."""
    module = import_module(f"reprocheck.cli.suite.{name}")
    if isinstance(module.command, typer.Typer):
        return typer.main.get_command(module.command)
    alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    alone.command(name, cls=OneCommand, help=COMMANDS[name], context_settings=HELP_NAMES)(
        module.command
    )
    return typer.main.get_command(alone)


def group() -> Any:
    """The group of commands behind `reprocheck suite`."""
    made = typer.Typer(
        name="suite",
        cls=Suite,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings=HELP_NAMES,
        no_args_is_help=True,
    )

    @made.callback()
    def suite() -> None:
        """Checks many targets every night, and reports what changed."""

    return typer.main.get_command(made)
