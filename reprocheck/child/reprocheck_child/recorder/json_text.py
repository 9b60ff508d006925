"""Reads and writes JSON with the C accelerator of the standard library alone.

Importing `json` costs 10 ms a process, for `re`. Where an interpreter has no such accelerator, it
is `json` itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Plain:
    """The settings that the C scanner reads off a decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}


try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    _scan = make_scanner(_Plain)  # type: ignore[arg-type]
    _encode = make_encoder(None, repr, encode_basestring_ascii, None, ":", ",", False, False, True)

    def loads(text: str) -> Any:
        """Return the value of a JSON text; raises ValueError."""
        try:
            return _scan(text.strip(), 0)[0]
        except StopIteration:
            raise ValueError("not JSON") from None

    def dumps(value: Any) -> str:
        """Return one line of ASCII JSON; values that JSON does not know become their repr."""
        return "".join(_encode(value, 0))

    def lines(values: list[Any]) -> str:
        """Return one line of JSON for each value; a text is taken for lines already."""
        return "".join([v if type(v) is str else "".join(_encode(v, 0)) + "\n" for v in values])

except (ImportError, TypeError):
    import json

    def loads(text: str) -> Any:
        """Return the value of a JSON text; raises ValueError."""
        return json.loads(text)

    def dumps(value: Any) -> str:
        """Return one line of ASCII JSON; values that JSON does not know become their repr."""
        return json.dumps(value, default=repr, separators=(",", ":"))

    def lines(values: list[Any]) -> str:
        """Return one line of JSON for each value; a text is taken for lines already."""
        return "".join([v if type(v) is str else dumps(v) + "\n" for v in values])
