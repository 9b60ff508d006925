"""From bytes to a tree: encodings, notebooks, and what cannot be read."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

from reprocheck.files.source_text import UnreadableError, neutralised
from reprocheck.scan.source import Source, decode, encoding, parse


def parsed(data: bytes | str, name: str = "x.py") -> Source:
    return parse(Path(name), name, data.encode() if isinstance(data, str) else data)


def notebook(*cells: str | list[str], language: str = "python") -> bytes:
    made = [{"cell_type": "markdown", "source": ["# Title\n"]}]
    made += [{"cell_type": "code", "source": cell} for cell in cells]  # type: ignore[dict-item]
    return json.dumps(
        {"cells": made, "metadata": {"language_info": {"name": language}}, "nbformat": 4}
    ).encode()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (b"\xef\xbb\xbf" + "x = 'é'\n".encode(), "x = 'é'\n"),
        (
            "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
            "# -*- coding: latin-1 -*-\nx = 'é'\n",
        ),
        (
            "# vim: set fileencoding=cp1251 :\nx = 'д'\n".encode("cp1251"),
            "# vim: set fileencoding=cp1251 :\nx = 'д'\n",
        ),
        ("x = 'é'\n".encode("latin-1"), "x = 'é'\n"),
        ("x = 'é'\n".encode("utf-16"), "x = 'é'\n"),
        (b"", ""),
    ],
)
def test_encodings(data: bytes, text: str) -> None:
    assert decode(data) == text
    assert decode(text.encode(encoding(data))) == text
    assert isinstance(parsed(data).tree, ast.Module)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"print 'hello'\n", "Python 2"),
        pytest.param(
            b"try:\n    pass\nexcept IOError, e:\n    pass\n",
            "Python 2",
            marks=pytest.mark.skipif(
                sys.version_info >= (3, 14), reason="two exceptions since Python 3.14 (PEP 758)"
            ),
        ),
        (b"def f(:\n", "does not parse"),
        (b"x = 1\0\n", "null bytes"),
        (b"# coding: no-such-thing\nx = 1\n", "unknown encoding"),
        (b"\xef\xbb\xbf\xff\xff", "not utf-8"),
        (("(" * 5_000 + ")" * 5_000).encode(), ""),
    ],
)
def test_what_does_not_parse_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as error:
        parsed(data)
    assert reason in error.value.reason


def test_cells_of_a_notebook_are_joined_and_found_again() -> None:
    source = parsed(
        notebook(
            "%matplotlib inline\nimport torch\n",
            ["x = 1\n", "!pip install y\n", "y = !ls\n", "z = 2"],
            "%%bash\nls -l\n",
        ),
        "a.ipynb",
    )
    assert [source.line(number) for number in range(1, 10)] == [
        *("pass", "import torch", ""),
        *("x = 1", "pass", "y = None", "z = 2"),
        *("#%%bash", "#ls -l"),
    ]
    assert source.place(2) == (2, 2) and source.place(7) == (3, 4) and source.place(8) == (4, 1)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%time x = f()\ny = 1", "x = f()\ny = 1"),
        ("%%time\nx = f()", "pass\nx = f()"),
        ("    %run a.py", "    pass"),
        ("torch.rand?\nx", "pass\nx"),
        ("!pip install \\\n   torch\nx = 1", "pass\n\nx = 1"),
        ("x = (1\n% 2)", "x = (1\n% 2)"),
        ("files = !ls", "files = None"),
        ("%%html\n<b>", "#%%html\n#<b>"),
    ],
)
def test_magics_are_made_harmless_line_by_line(cell: str, expected: str) -> None:
    assert neutralised(cell) == expected


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{", "not a notebook"),
        (b"[]", "holds no cells"),
        (b'{"cells": 3}', "holds no cells"),
        (b"\xff\xfe\xff", "not UTF-8"),
        (notebook("x", language="julia"), "notebook of julia"),
    ],
)
def test_notebooks_that_are_none(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as error:
        parsed(data, "x.ipynb")
    assert reason in error.value.reason


def test_old_and_odd_notebooks() -> None:
    old = json.dumps(
        {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"]}]}], "nbformat": 3}
    ).encode()
    assert parsed(old, "x.ipynb").line(1) == "x = 1"
    odd = json.dumps(
        {"cells": [3, {"cell_type": "code"}, {"cell_type": "code", "source": None}]}
    ).encode()
    assert isinstance(parsed(odd, "x.ipynb").tree, ast.Module)
