"""Files that nobody should have to read: each is reported, the rest is scanned, and nothing is a
traceback.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reprocheck.scan import Result, scan

GOOD = "import torch, time\ntorch.manual_seed(int(time.time()))\nloss.backward()\n"


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def reasons(result: Result) -> dict[str, str]:
    return {Path(one.path).name: one.reason for one in result.unreadable}


def test_one_bad_file_does_not_keep_the_others(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "good.py": GOOD,
            "python2.py": "print 'x'\n",
            "broken.py": "def f(\n",
            "binary.py": b"\x00\x01\x02",
            "empty.py": "",
            "blank.py": "\n\n   \n",
            "comment.py": "# nothing",
            "form.py": "x = 1\n\x0c\ny = 2\n",
            "broken.ipynb": "{",
            "deep.py": "x = " + "[" * 150 + "]" * 150 + "\n",
            "latin.py": "# é\nx = 'é'\n".encode("latin-1"),
            "long.py": "x = '" + "a" * 1_000_000 + "'\n",
            "brackets.py": "(" * 3_000 + ")" * 3_000,
        },
    )
    result = scan([tmp_path])
    found = reasons(result)
    assert set(found) == {"python2.py", "broken.py", "binary.py", "broken.ipynb", "brackets.py"}
    assert (
        "Python 2" in found["python2.py"]
        and next(one.line for one in result.unreadable if one.path.endswith("python2.py")) == 1
    )
    assert [Path(one.path).name for one in result.findings] == ["good.py"] and result.files == 8


def test_expressions_and_calls_of_any_depth(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "far.py": "x = " + " + ".join(["a"] * 5_000) + "\n",
            "sum.py": "import torch\nx = "
            + " + ".join(["torch.rand(1)"] * 500)
            + "\nx.backward()\n",
            "chain.py": "import torch\nx = torch.rand(1)" + ".abs()" * 900 + "\nx.backward()\n",
            "calls.py": "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n" for n in range(500))
            + "f0(1)\nloss.backward()\n",
            "nested.py": "".join("    " * n + f"if x{n}:\n" for n in range(90))
            + "    " * 90
            + "loss.backward()\n",
            "elif.py": "if a:\n    pass\n"
            + "".join(f"elif a == {n}:\n    b = {n}\n" for n in range(400))
            + "loss.backward()\n",
        },
    )
    result = scan([tmp_path])
    too_deep = reasons(result)  # how deep a sum may be depends on the interpreter
    assert too_deep in ({}, {"far.py": "nested too deeply to be parsed"})
    assert result.files == 6 - len(too_deep)


def test_long_files(tmp_path: Path) -> None:
    rows = ["TABLE = {\n", *(f"    'key {number}': {number},\n" for number in range(50_998)), "}\n"]
    write(tmp_path, {"long.py": "".join(rows) + GOOD})
    result = scan([tmp_path / "long.py"])
    assert result.lines > 50_000 and [
        one.line for one in result.findings if one.code == "RC402"
    ] == [51_002]
    assert not result.unreadable


def test_cycles_and_stars(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.py": "from b import *\nimport c\n" + GOOD,
            "b.py": "from c import *\nfrom a import *\n",
            "c.py": "from a import *\nfrom torch import *\nfrom nowhere import *\nmanual_seed(0)\n",
            "self.py": "import self\nfrom self import *\n",
            "package/__init__.py": "from .one import *\n",
            "package/one.py": "from . import *\nfrom package import one\nfrom .... import far\n",
        },
    )
    result = scan([tmp_path])
    assert not result.unreadable and result.files == 6
    assert [Path(one.path).name for one in result.findings if one.code == "RC402"] == ["a.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    write(tmp_path, {"good.py": GOOD, "secret.py": GOOD, "closed/x.py": GOOD})
    (tmp_path / "secret.py").chmod(0)
    (tmp_path / "closed").chmod(0)
    try:
        result = scan([tmp_path])
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert reasons(result) == {
        "secret.py": "no permission to read it",
        "closed": "cannot be listed: Permission denied",
    }
    assert result.files == 1


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same as anybody, root included."""
    write(tmp_path, {"good.py": GOOD, "secret.py": GOOD})
    plain = Path.read_bytes

    def refusing(path: Path) -> bytes:
        if path.name == "secret.py":
            raise PermissionError(13, "Permission denied")
        return plain(path)

    monkeypatch.setattr(Path, "read_bytes", refusing)
    result = scan([tmp_path])
    assert reasons(result) == {"secret.py": "no permission to read it"} and result.files == 1


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "a.py").write_text("x = 1")
    result = scan([tmp_path, tmp_path / "gone.py"])
    assert (
        reasons(result) == {"pipe.py": "not a regular file", "gone.py": "does not exist"}
        and result.files == 1
    )


def test_names_that_are_odd(tmp_path: Path) -> None:
    write(tmp_path, {"a b,c:d%.py": GOOD, "ünï.py": GOOD, "1-2.py": GOOD, "new\nline.py": GOOD})
    (tmp_path / os.fsdecode(b"\xff\xfe.py")).write_text(GOOD)
    result = scan([tmp_path], cache=tmp_path / "cache")
    assert len({one.path for one in result.findings}) == 5 and not result.unreadable


@pytest.mark.parametrize(
    "text",
    [
        "class A(A): pass\nA()\n",
        "class A:\n    def __init__(self): self.a = self\n    def __getitem__(self, i): return self[i]\nfor x in A(): x.a.a.backward()\n",
        "x = [x for x in x for x in x]\nx.append(x)\nfor y in x:\n    y.backward()\n",
        "d = {}\nd['d'] = d\nprint(d['d']['d'], **d)\nd['d'].backward()\n",
        "f = lambda *a, **k: f(*a, **k)\nf(*f, **f)\nx.backward()\n",
        "super().__init__()\ngetattr(1, 2, 3, 4)\nsetattr()\nmap()\nnext()\nvars()\nx.backward()\n",
        "match x:\n    case {'a': [b, *c], **d} if e: pass\n    case A(x=1) | None as f: pass\n    case _: raise x\ny.backward()\n",
        "global x\nx: int\nx += 1\ndel x, y[0], z.a\n(a, *b), [c] = x\nx.backward()\n",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument()\np.add_argument('x', *y)\np.parse_args().z.backward()\n",
        "async def f():\n    async with a as b, c: await d\n    async for x in y: yield x\n    yield from z\nf().backward()\n",
        "try:\n    x\nexcept* ValueError as e:\n    raise\nfinally:\n    x.backward()\n",
        "@property\ndef f(self): return f\n@f.setter\ndef f(self, x): pass\nclass A:\n    g = f\nA().g.g.g.backward()\n",
    ],
)
def test_code_that_makes_no_sense(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.py").write_text(text)
    result = scan([tmp_path / "odd.py"])
    assert not result.unreadable and result.files == 1
