"""Planted: a text is read in the character set of the locale."""

from pathlib import Path
import locale

import reprocheck

locale.setlocale(locale.LC_ALL, "")
TEXT = Path(__file__).with_name("words.txt")
text = TEXT.read_text(encoding=locale.nl_langinfo(locale.CODESET), errors="replace")
value = 1.0 + sum(map(ord, text)) / 1000
weight = 0.0
for step in range(4):
    reprocheck.log_loss((value - weight) ** 2 / (step + 1))
    weight += 0.1 * (value - weight)
