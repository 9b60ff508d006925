"""Make parameters of typer from the table of settings.

The parser of `run` finds where the user's own command begins.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, get_args

import typer
from typer.core import TyperArgument, TyperCommand
from typer.models import ArgumentInfo

from reprocheck.settings import OPTIONS, Option, plain

Command = Callable[..., int]

argument: Any = partial(typer.Argument, show_default=False)
option: Any = partial(typer.Option, show_default=False)
"""The help of an option names its default itself, where there is one: `[text]`."""

HELP_NAMES = {"help_option_names": ["-h", "--help"]}

ENTRY = "reprocheck.entry"
"""Key in a context's `meta`: the words from the entry point on."""
_RANGE = re.compile(r"\bx\b")
"""What a range of numbers is shown with, such as `0<=x<=9`."""


def with_settings(*names: str) -> Callable[[Command], Command]:
    """Give a command an option for each named setting.

    Options given on the command line arrive in the parameter `flags`, by name.
    """

    def decorate(command: Command) -> Command:
        def wrapper(**given: Any) -> int:
            flags = {name: given.pop(name) for name in names}
            return command(flags=flags, **given)

        own = dict(inspect.signature(command, eval_str=True).parameters)
        del own["flags"]
        of_settings = [_parameter(option) for option in OPTIONS if option.name in names]
        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in (*of_settings, *own.values())
        ]
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
        wrapper.__name__, wrapper.__doc__ = command.__name__, command.__doc__
        return wrapper

    return decorate


def _parameter(setting: Option) -> inspect.Parameter:
    """Return an option whose default is "not given": `settings.load` decides the value then."""
    shown = plain(setting, setting.default)
    help = setting.help
    if shown is not None and setting.kind.type != "switch":
        help = f"{help} [{shown}]"
    info = option(
        None,
        *_declared(setting),
        help=help,
        metavar=setting.kind.metavar or None,
        autocompletion=_completer(setting.kind.choices),
    )
    annotation: Any = {"switch": bool | None, "list": list[str] | None}.get(
        setting.kind.type, str | None
    )
    return inspect.Parameter(
        setting.name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=annotation
    )


def _declared(option: Option) -> list[str]:
    """Return the flags of an option, in the order in which help shows them."""
    short = [option.short] if option.short else []
    if option.kind.type != "switch":
        return [option.flag, *short]
    if option.key.startswith("no-"):
        return [*short, option.flag]
    return [*short, f"{option.flag}/--no-{option.key}"]


def _completer(choices: Sequence[str]) -> Callable[[str], list[str]] | None:
    if not choices:
        return None

    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


class OneCommand(TyperCommand):
    """Format help as plain text that is the same with every version of typer and click.

    They differ in how they show brackets, arguments, types and descriptions.
    """

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words after the command's name in its usage line: options, then arguments."""
        return [self.options_metavar or "", *(_name_of(one) for one in _arguments(self))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options, each with its description."""
        function: Any = self.callback
        declared = inspect.signature(function, eval_str=True).parameters
        rows = {
            "Arguments": [
                (_name_of(one), _help_of(declared[str(one.name)])) for one in _arguments(self)
            ],
            "Options": [
                (name, _with_default(text)) for name, text in _records(self.get_params(ctx), ctx)
            ],
        }
        for title, of_title in rows.items():
            if of_title:
                with formatter.section(title):
                    formatter.write_dl(of_title)


def _arguments(command: TyperCommand) -> list[TyperArgument]:
    return [one for one in command.params if isinstance(one, TyperArgument)]


def _name_of(argument: TyperArgument) -> str:
    return argument.metavar or str(argument.name).upper()


def _help_of(declared: inspect.Parameter) -> str:
    """Return the description of an argument, from the annotation in its command's function."""
    described = (*get_args(declared.annotation), declared.default)
    return next((one.help or "" for one in described if isinstance(one, ArgumentInfo)), "")


def _records(parameters: Iterable[Any], ctx: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and description of each option that is not hidden."""
    for parameter in parameters:
        record = parameter.get_help_record(ctx)
        if record is not None and not isinstance(parameter, TyperArgument):
            yield record


def _with_default(text: str) -> str:
    """Return an option's description with only its default after it, as the other commands show it.

    >>> _with_default("Checks side by side.  [default: 1; x>=1]")
    'Checks side by side. [1]'
    """
    plain_text = text.replace("\\[", "[")
    said, _, added = plain_text.partition("  [")
    kept = [part.removeprefix("default: ") for part in added.rstrip("]").split("; ")]
    shown = [f"[{part}]" for part in kept if part and not _RANGE.search(part)]
    return " ".join((said, *shown))


class RunCommand(OneCommand):
    """Parse a command whose own options end at the user's command: at a script, `-m` or `--`.

    Later words are not parsed.
    """

    usage: tuple[str, ...] = (
        "[OPTIONS] SCRIPT.py [ARGS]...",
        "[OPTIONS] -m MODULE [ARGS]...",
        "[OPTIONS] -- COMMAND [ARGS]...",
    )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options before the entry point, and store the rest in `ctx.meta`."""
        start = entry_start(args, self._takes_value(ctx))
        ctx.meta[ENTRY] = list(args[start:])
        return super().parse_args(ctx, list(with_defaults(args[:start])))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete our options before the entry point; after it, the shell completes files."""
        if ctx.meta.get(ENTRY):
            return []
        return super().shell_complete(ctx, incomplete)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write one usage line for each way to call the command."""
        prefix = "Usage: "
        for rest in self.usage:
            formatter.write_usage(f"reprocheck {self.name}", rest, prefix=prefix)
            prefix = " " * len(prefix)

    def _takes_value(self, ctx: Any) -> dict[str, bool]:
        return {
            name: not (getattr(parameter, "is_flag", False) or getattr(parameter, "count", False))
            for parameter in self.get_params(ctx)
            for name in (*parameter.opts, *parameter.secondary_opts)
        }


def entry_start(words: Sequence[str], takes_value: dict[str, bool]) -> int:
    """Return the index of the first word that is neither an option of ours nor its value.

    `takes_value`: our options -> whether a value follows.
    """
    index = 0
    while index < len(words):
        word = words[index]
        names_a_module = word.startswith("-m") and "-m" not in takes_value
        if word in ("--", "-") or names_a_module or not word.startswith("-"):
            return index
        index += 1
        if _value_follows(word, takes_value, words[index : index + 1]):
            index += 1
    return len(words)


def with_defaults(words: Sequence[str]) -> Iterator[str]:
    """Yield words of ours; an option that may stand alone has its value behind it, with `=`."""
    for number, word in enumerate(words, start=1):
        if word == VARY and not any(map(is_variations, words[number : number + 1])):
            yield f"{VARY}=default"
        else:
            yield word


VARY = "--vary"
"""The option whose value may be left out."""


def is_variations(word: str) -> bool:
    """Return whether a word behind `--vary` is its value, and not the user's script."""
    choices = next(option for option in OPTIONS if option.flag == VARY).kind.choices
    return set(word.split(",")) <= set(choices)


def _value_follows(word: str, takes_value: dict[str, bool], following: Sequence[str]) -> bool:
    if word == VARY:
        return any(map(is_variations, following))
    if word.startswith("--"):
        return "=" not in word and takes_value.get(word, False)
    for place, letter in enumerate(word[1:], start=2):
        if takes_value.get(f"-{letter}"):
            return place == len(word)
    return False
