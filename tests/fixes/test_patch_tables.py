"""A long table of constants is one token for a patch, and the text around it stays what it is."""

from __future__ import annotations

import libcst as cst
import pytest

from reprocheck.fixes.edits.tree import SHORTEST, Table, parsed
from reprocheck.fixes.patches import patch
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

ROWS = "".join(
    f"    'é{number}': ({number}, -1.5, None),  # {number}\n" for number in range(SHORTEST)
)
HEAD = "import time, torch\nä = 'é'; TABLE = {\n"
TAIL = (
    "}  # the end\nafter: list = [\n"
    + "    1,\n" * SHORTEST
    + "]\ntorch.manual_seed(int(time.time()))\nloss.backward()\n"
)
TEXT = HEAD + ROWS + TAIL


def tables(module: cst.Module) -> int:
    found: list[Table] = []

    class Looking(cst.CSTVisitor):
        def on_visit(self, node: cst.CSTNode) -> bool:
            found.extend([node] if isinstance(node, Table) else [])
            return True

    module.visit(Looking())
    return len(found)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tables_are_tokens_and_the_text_is_the_same(end: str) -> None:
    text = TEXT.replace("\n", end)
    module = parsed(text)
    assert module.code == text and tables(module) == 2


def test_what_holds_more_than_constants_is_taken_apart() -> None:
    for changed in (
        ROWS.replace("-1.5", "f(1)", 1),
        ROWS.replace("None", "name", 1),
        "    'a': 1,\n",
    ):
        assert tables(parsed(HEAD + changed + "}\n")) == 0
    assert tables(parsed(TEXT + "reprocheck_table_1 = 2\n")) == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_below_a_table_is_fixed_at_its_place(end: str) -> None:
    text = TEXT.replace("\n", end)
    found = findings(of_text({"main.py": text}))
    assert [(one.code, one.line) for one in found] == [("RC402", TEXT.count("\n") - 1)]
    assert patch(text, found) == text.replace("int(time.time())", "0")
