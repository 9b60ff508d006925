"""What the keys of targets take, in the code and on the page."""

from __future__ import annotations

import re

from reprocheck.suite.targets.values import OF_A_RESUME, OF_A_TARGET, OF_THE_SUITE
from tests.conftest import ROOT


def test_the_page_on_suites_lists_every_key_with_what_it_takes() -> None:
    page = (ROOT / "docs/reference/suite.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if re.match(r"\| `[a-z][a-z_-]*` \|", line)]
    listed = [(row.split("`")[1], row) for row in rows]
    kinds = [*OF_A_TARGET.items(), *OF_A_RESUME.items(), *OF_THE_SUITE.items()]
    assert [key for key, _ in listed] == [key for key, _ in kinds]
    for (_, row), (_, kind) in zip(listed, kinds, strict=True):
        assert f"| {kind.allowed} |" in row
