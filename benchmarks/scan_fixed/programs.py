"""The programs: the wrong example of a rule, and a training in `tails.txt` that uses what it makes.

In `tails.txt`, `=== CODE` begins the training of a rule.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from reprocheck.rules import find
from reprocheck.scan import Finding, patched, scan

FILE = Path(__file__).parent / "tails.txt"
NOT_RUN = {"RC703": "flash attention needs a GPU, and a package that is built for it"}
"""Rules that can be fixed and whose example cannot be run on a machine without an accelerator."""
SCRIPT = Path("train.py")


@dataclass(frozen=True, slots=True)
class Program:
    """A program with what one rule finds, and the same after `scan --fix`.

    found    the findings that can be fixed
    left     what the scan still finds in the fixed text
    """

    code: str
    wrong: str
    fixed: str
    found: tuple[Finding, ...]
    left: tuple[Finding, ...]

    @property
    def digest(self) -> str:
        """What both texts are known by in the table."""
        return hashlib.sha256(f"{self.wrong}\0{self.fixed}".encode()).hexdigest()[:12]

    @property
    def framework(self) -> str:
        """Which interpreter it needs: `mindspore` has one of its own."""
        if "import mindspore" in self.wrong:
            return "mindspore"
        return ""


def codes() -> list[str]:
    """The rules with a training, in order."""
    return list(_tails())


def program(code: str) -> Program:
    """The program of a rule, scanned and fixed; the working directory must hold no `reprocheck`."""
    entry = find(code)
    if entry is None:
        raise LookupError(f"there is no rule {code}")
    wrong = f"{entry.bad.rstrip()}\n\n{_tails()[code]}"
    given = {SCRIPT: wrong.encode()}
    result = scan([], given=given)
    fixed = patched(result, given).get(SCRIPT, wrong)
    again = scan([], given={SCRIPT: fixed.encode()})
    found = tuple(one for one in result.findings if one.patchable)
    return Program(code=code, wrong=wrong, fixed=fixed, found=found, left=again.findings)


def _tails() -> dict[str, str]:
    parts = re.split(r"(?m)^=== (\w+)\n", FILE.read_text(encoding="utf-8"))[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))
