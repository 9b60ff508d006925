"""Each message is given a value for each of its named places."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import reprocheck

PACKAGE = Path(reprocheck.__file__).parent
SAYING = {"tr", "form"}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Each call that says a message, with its place."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in SAYING:
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node


def places(call: ast.Call) -> set[str]:
    """The named places in the messages that stand in a call."""
    messages = [one.value for one in call.args if isinstance(one, ast.Constant)]
    parsed = [part for message in messages for part in Formatter().parse(str(message))]
    return {name for _, name, _, _ in parsed if name}


def test_every_place_of_a_message_has_its_value() -> None:
    found = list(calls())
    assert len(found) > 200
    lacking = {
        where: missing
        for where, call in found
        if None not in {one.arg for one in call.keywords}
        and (missing := places(call) - {one.arg for one in call.keywords})
    }
    assert lacking == {}
