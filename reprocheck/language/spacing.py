"""Where Chinese and Latin characters meet at the edge of a value, a space stands between them.

None where both are Chinese. What is within a value, such as a path, stays as it is.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping

_EDGE = "\ue000"
_CHINESE, _LATIN = "[\u4e00-\u9fff]", r"[\w`$/.\-]"
_MIXED = re.compile(
    f"(?<={_CHINESE}){_EDGE}+(?=(?!{_CHINESE}){_LATIN})"
    f"|(?<={_LATIN})(?<!{_CHINESE}){_EDGE}+(?={_CHINESE})"
)
_ALIKE = re.compile(f"(?<={_CHINESE})(?: {_EDGE}+|{_EDGE}+ )(?={_CHINESE})")


class _Marked(string.Formatter):
    """Marks where a value begins and ends."""

    def format_field(self, value: object, format_spec: str) -> str:
        return f"{_EDGE}{super().format_field(value, format_spec)}{_EDGE}"


def filled(template: str, values: Mapping[str, object]) -> str:
    """Return the template with its values.

    >>> filled("因为{why}不一致", {"why": "seed"})
    '因为 seed 不一致'
    """
    text = _Marked().vformat(template, (), values)
    return _MIXED.sub(" ", _ALIKE.sub("", text)).replace(_EDGE, "")
