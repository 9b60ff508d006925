"""`reprocheck rules`: the catalogue of causes as a table, or one entry of it."""

from __future__ import annotations

from typing import Annotated

from reprocheck.cli.parameters import argument, option
from reprocheck.errors import UsageError


def _complete(incomplete: str) -> list[str]:
    from reprocheck.rules import catalogue

    return [
        name
        for entry in catalogue()
        for name in (entry.code, entry.name)
        if name.lower().startswith(incomplete.lower())
    ]


def rules(
    code: Annotated[
        str | None,
        argument(
            metavar="[CODE]",
            help="Print one entry, by code or name.",
            autocompletion=_complete,
        ),
    ] = None,
    relations: Annotated[
        bool,
        option(
            "--relations",
            help="Print the table of controls, variations, mirrors and what must differ.",
        ),
    ] = False,
    format: Annotated[
        str,
        option("--format", metavar="text|json", help="How to print. [text]"),
    ] = "text",
) -> int:
    """Print the causes that reprocheck knows: how each shows, and how to fix it."""
    from reprocheck.cli import rules_view

    if format not in ("text", "json"):
        raise UsageError(f"--format {format}: rules has no such format.", "Take text or json.")
    if relations:
        if code is not None:
            raise UsageError(f"--relations prints one table, and no entry {code}.", "Leave it out.")
        return rules_view.print_relations(as_json=format == "json")
    if format == "json":
        return rules_view.print_json(code)
    if code is None:
        return rules_view.print_table()
    return rules_view.print_one(code)
