"""Typer parameters made from the table of settings, and the `run` command's way of finding where
the user's own command begins.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from reprocheck.settings import OPTIONS, Option, plain

Command = Callable[..., int]

ENTRY = "reprocheck.entry"
"""Key in a context's `meta`: the words from the entry point on."""


def with_settings(*names: str) -> Callable[[Command], Command]:
    """Gives a command an option for each named setting; those that were typed arrive in its
    parameter `flags`, by name.
    """

    def decorate(command: Command) -> Command:
        def wrapper(**given: Any) -> int:
            flags = {name: given.pop(name) for name in names}
            return command(flags=flags, **given)

        own = [
            p
            for p in inspect.signature(command, eval_str=True).parameters.values()
            if p.name != "flags"
        ]
        parameters = [
            p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in (*(_parameter(o) for o in OPTIONS if o.name in names), *own)
        ]
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
        wrapper.__name__, wrapper.__doc__ = command.__name__, command.__doc__
        return wrapper

    return decorate


def _parameter(option: Option) -> inspect.Parameter:
    """An option whose default is "not given": what holds then is decided by `settings.load`."""
    shown = plain(option, option.default)
    note = "" if shown is None or option.type == "switch" else f" [{shown}]"
    can_be_denied = option.type == "switch" and not option.key.startswith("no-")
    declared = [f"{option.flag}/--no-{option.key}" if can_be_denied else option.flag]
    if option.short:
        declared.insert(0 if option.type == "switch" else 1, option.short)
    info = typer.Option(
        None,
        *declared,
        help=option.help + note,
        show_default=False,
        metavar=option.metavar or None,
        autocompletion=_completer(option.choices) if option.choices else None,
    )
    annotation: Any = {"switch": bool | None, "list": list[str] | None}.get(option.type, str | None)
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=annotation
    )


def _completer(choices: Sequence[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


class OneCommand(TyperCommand):
    """A command whose help is plain text: some versions of typer escape it for another purpose."""

    def get_help(self, ctx: Any) -> str:
        """The help, without backslashes before brackets."""
        return super().get_help(ctx).replace("\\[", "[")


class RunCommand(OneCommand):
    """A command whose options end where the user's own command begins: at a script, `-m` or `--`.
    The rest is not looked at.
    """

    usage: tuple[str, ...] = (
        "[OPTIONS] SCRIPT.py [ARGS]...",
        "[OPTIONS] -m MODULE [ARGS]...",
        "[OPTIONS] -- COMMAND [ARGS]...",
    )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses the options before the entry point; the words from it on go to `ctx.meta`."""
        start = entry_start(args, self._takes_value(ctx))
        ctx.meta[ENTRY] = list(args[start:])
        return super().parse_args(ctx, list(args[:start]))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Our options before the entry point; after it the shell completes files."""
        return [] if ctx.meta.get(ENTRY) else super().shell_complete(ctx, incomplete)

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """A line for each way to call it."""
        for number, rest in enumerate(self.usage):
            formatter.write_usage(
                f"reprocheck {self.name}", rest, prefix="Usage: " if not number else "       "
            )

    def _takes_value(self, ctx: Any) -> dict[str, bool]:
        return {
            name: not (getattr(parameter, "is_flag", False) or getattr(parameter, "count", False))
            for parameter in self.get_params(ctx)
            for name in (*parameter.opts, *parameter.secondary_opts)
        }


def entry_start(words: Sequence[str], takes_value: dict[str, bool]) -> int:
    """Index of the first word that is neither an option of ours nor its value.

    `takes_value`: our options -> whether a value follows.
    """
    index = 0
    while index < len(words):
        word = words[index]
        if (
            word in ("--", "-")
            or not word.startswith("-")
            or (word.startswith("-m") and "-m" not in takes_value)
        ):
            return index
        index += 2 if _value_follows(word, takes_value) else 1
    return len(words)


def _value_follows(word: str, takes_value: dict[str, bool]) -> bool:
    if word.startswith("--"):
        return "=" not in word and takes_value.get(word, False)
    for place, letter in enumerate(word[1:], start=2):
        if takes_value.get(f"-{letter}"):
            return place == len(word)
    return False
