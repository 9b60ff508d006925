"""Right programs, which must have no finding but notes, and wrong ones with the lines and codes that they must have."""

from __future__ import annotations

from tests.scan.snippets import found_third, twins_fifth, twins_fourth, twins_third
from tests.scan.snippets.found_later import MISSED, TWINS
from tests.scan.snippets.parts import text
from tests.scan.snippets.right_data import DATA
from tests.scan.snippets.right_seeds import SEEDS
from tests.scan.snippets.wrong import KNOWN

RIGHT = SEEDS | DATA | TWINS | twins_third.TWINS | twins_fourth.TWINS | twins_fifth.TWINS
WRONG: dict[str, tuple[str | dict[str, str], list[tuple[int, str]]]] = {**KNOWN, **MISSED, **found_third.MISSED, **twins_fourth.WRONG}

__all__ = ["RIGHT", "WRONG", "text"]
