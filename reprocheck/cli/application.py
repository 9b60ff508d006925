"""The Typer application: every command, and typer's errors turned into ours."""

from __future__ import annotations

import json
import shlex
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from reprocheck.cli import overview
from reprocheck.cli.parameters import HELP_NAMES, OneCommand, RunCommand, option
from reprocheck.errors import EXIT_INTERRUPTED, UsageError

_ASKS_FOR_HELP = (["-h"], ["--help"])
"""What follows a command of which only the help is asked."""
GROUPS = ("suite",)
"""Commands that have commands of their own."""
RESUMING = "--resume"
"""The option of `explain` that makes it explain a resume."""
ENDINGS = (".py", ".ipynb")
"""Of the names of trainings."""
OF_RUNS = ("run", "resume", "explain", "record")
"""Commands behind which the user's own command stands."""


class Root(TyperGroup):
    """Group all commands; its help is the overview.

    A command is made only on request, because making all of them took longer than the rest of the
    start-up.
    """

    def get_help(self, ctx: Any) -> str:
        """Return the overview text."""
        return overview.help_text()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, in the order of the overview."""
        return list(overview.COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name; None if there is none."""
        if cmd_name not in overview.COMMANDS:
            return None
        return made(cmd_name)


@cache
def made(name: str) -> Any:
    """Make a command from the module and function that have its name."""
    module = import_module(f"reprocheck.cli.{name}")
    if name in GROUPS:
        return module.group()
    alone = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
    kind = getattr(module, f"{name.capitalize()}Command", OneCommand)
    if name in OF_RUNS:
        kind = RunCommand
    alone.command(name, cls=kind, help=overview.COMMANDS[name], context_settings=HELP_NAMES)(
        getattr(module, name)
    )
    return typer.main.get_command(alone)


app = typer.Typer(
    name="reprocheck",
    cls=Root,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=HELP_NAMES,
)


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    version: Annotated[
        bool, option("--version", "-V", help=overview.OPTIONS["-V, --version"])
    ] = False,
) -> None:
    """Run a training script twice and say whether the runs agree."""
    if version:
        overview.print_version()
        raise typer.Exit(0)
    if ctx.invoked_subcommand is None:
        overview.print_help()
        return
    put_back()


def put_back() -> None:
    """Restore the user's files that a killed check of this folder changed, and say so on stderr.

    This costs two directory listings if there is no killed check.
    """
    import tempfile

    output = Path.cwd() / "reports"
    scratches = Path(tempfile.gettempdir()).glob("reprocheck-*.*")
    if not any(output.glob("*/snapshot")) and not any(
        _names(scratch / "check.json", Path.cwd()) for scratch in scratches
    ):
        return
    from reprocheck.cli.terminal import standard_error
    from reprocheck.launch.workdir.interrupted_checks import restored

    for sentence in restored(output, Path.cwd()):
        standard_error().labelled("note:", sentence, "bold")


def _names(pointer: Path, folder: Path) -> bool:
    """Return whether `check.json` of a check's temporary folder names this folder.

    Also true if that file, `pointer`, does not exist: the check was killed before writing it.
    """
    try:
        return json.dumps(str(folder)) in pointer.read_text()
    except FileNotFoundError:
        return True
    except (OSError, UnicodeDecodeError):
        return False


_FOR_THIS_SHELL = ("--install-completion", "--show-completion")


def invoke(words: list[str]) -> int:
    """Run a command line and return its exit code.

    Raises UsageError if it cannot be parsed.
    """
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    words = _resuming(words)
    if words[1:] in _ASKS_FOR_HELP and words[0] in overview.COMMANDS:
        typer.echo(help_of(made(words[0]), f"reprocheck {words[0]}"))
        return 0
    try:
        code = app(args=words, prog_name="reprocheck", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except OSError:
        # What typer raises where none of the programs above this one is a shell that it knows.
        if set(words[:1]).isdisjoint(_FOR_THIS_SHELL):
            raise
        raise UsageError(
            "The shell that reprocheck was started from is not known.",
            "Type the command in bash, zsh, fish or PowerShell.",
        ) from None
    except Exception as error:
        if not isinstance(error, _PARSE_ERROR):
            raise
        raise _usage_error(error, words) from None
    if code == EXIT_INTERRUPTED:  # typer's own answer to Ctrl-C; no command returns it
        raise KeyboardInterrupt
    if not isinstance(code, int):
        return 0
    return code


def _resuming(words: list[str]) -> list[str]:
    """Turn `explain --resume …` into `resume --explain …`: the options are those of `resume`."""
    if words[:1] != ["explain"] or RESUMING not in words:
        return words
    place = words.index(RESUMING)
    if any(word in ("-m", "--") or word.endswith(ENDINGS) for word in words[:place]):
        return words
    return ["resume", "--explain", *words[1:place], *words[place + 1 :]]


def help_of(command: Any, called: str, width: int | None = None) -> str:
    """Return the help of a command without the parser.

    typer 0.29 imports pydantic even for `--help`, which takes 0.3 s of CPU time.
    """
    names = HELP_NAMES["help_option_names"]
    context = typer.Context(
        command, info_name=called, help_option_names=names, terminal_width=width
    )
    with context:
        return str(command.get_help(context))


_PARSE_ERROR: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""What typer raises for a command line that it cannot parse; older versions take the class from
click.
"""


_UNKNOWN_OPTION = "NoSuchOption"
"""The class of click's error by its name: newer releases of typer have click inside themselves."""


def _usage_error(error: Any, words: list[str]) -> UsageError:
    message = error.format_message()
    command = next((word for word in words if word in overview.COMMANDS), "")
    if command in GROUPS:
        return _usage_error_of_group(message, command, words[words.index(command) + 1 :])
    first = next(iter(words), "")
    meant = get_close_matches(first, overview.COMMANDS, n=1)
    if not command and meant and not first.startswith("-"):
        return UsageError(
            message, f"Did you mean `{shlex.join(['reprocheck', meant[0], *words[1:]])}`?"
        )
    if not command and any(word == "-m" or word.endswith(ENDINGS) for word in words):
        return UsageError(
            "The command is missing.",
            f"Did you mean `{_as_run(words)}`?",
        )
    fix = f"`reprocheck {command} --help` lists the options.".replace("  ", " ")
    if command in OF_RUNS and type(error).__name__ == _UNKNOWN_OPTION:
        fix += " Options of the script go after the script."
    return UsageError(message, fix)


def _usage_error_of_group(message: str, group: str, words: list[str]) -> UsageError:
    """Return the error for a wrong command line after `reprocheck suite`."""
    commands = import_module(f"reprocheck.cli.{group}").COMMANDS
    name = next((word for word in words if not word.startswith("-")), "")
    if name in commands:
        return UsageError(message, f"`reprocheck {group} {name} --help` lists the options.")
    meant = get_close_matches(name, commands, n=1)
    if meant:
        return UsageError(message, f"Did you mean `reprocheck {group} {meant[0]}`?")
    return UsageError(message, f"`reprocheck {group} --help` lists the commands.")


def _as_run(words: list[str]) -> str:
    """Return the command line `reprocheck run WORDS`.

    `--` is put before a launcher such as torchrun.
    """
    from reprocheck.cli.run import LAUNCHERS

    if words[0] in LAUNCHERS:
        words = ["--", *words]
    return shlex.join(["reprocheck", "run", *words])
