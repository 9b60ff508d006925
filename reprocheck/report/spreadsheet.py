"""Text in a cell of a CSV file that a spreadsheet takes for text.

A spreadsheet evaluates a cell that begins with one of `= + - @`, whoever wrote it. Such a text has
an apostrophe put in front of it. The same holds behind a semicolon, a tab and the end of a line
within a cell: where these part the cells, quotes in the middle of one do not hold it together.
https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import re

_FORMULA = r"""(?='*[ "]*[=+\-@＝＋－＠])"""
"""Behind apostrophes, too: what is taken away again is exactly what was put there. The signs of
full width are the same signs to some spreadsheets.
"""
_START = r"(?:^|(?<=[;\t\r\n]))"
_BARE = re.compile(_START + _FORMULA)
_MARKED = re.compile(_START + "'" + _FORMULA)


def marked(text: str) -> str:
    """Return a text that no spreadsheet evaluates; `unmarked` gives it back.

    >>> marked("=1+1")
    "'=1+1"
    """
    return _BARE.sub("'", text)


def unmarked(text: str) -> str:
    """Return what `marked` was given.

    >>> unmarked("'=1+1")
    '=1+1'
    """
    return _MARKED.sub("", text)
