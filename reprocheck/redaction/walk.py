"""A check with that alone which may leave: each field of the result model by the list of
`fields`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import fields as fields_of
from dataclasses import is_dataclass, replace
from typing import Any

from reprocheck.language import english
from reprocheck.model import Check
from reprocheck.redaction.fields import FIELDS, LEFT_OUT, How
from reprocheck.redaction.guard import Redaction
from reprocheck.redaction.whole import WHOLE

_EMPTY: tuple[tuple[type, Any], ...] = ((str, ""), (tuple, ()), (Mapping, {}))
"""What stands for a value that is left out, by its type; None for all others."""


def redacted(check: Check, redaction: Redaction) -> Check:
    """The check with that alone which may leave the machine.

    With level `none` it is the check itself. In `strict` nothing stands in place of the sentences
    that are left out.
    """
    if redaction.level == "none":
        return check
    shown: Check = _thing(check, redaction)
    return shown


# --------------------------------------------------------------------------------------- the walk


def _thing(thing: Any, redaction: Redaction) -> Any:
    """A dataclass, each of its fields as the list says."""
    special = WHOLE.get(type(thing))
    if special is not None:
        return special(thing, redaction)
    changed = {}
    for field in fields_of(thing):
        old = getattr(thing, field.name)
        new = _field(type(thing).__name__, field.name, old, redaction)
        if new is not old:
            changed[field.name] = new
    if not changed:
        return thing
    return replace(thing, **changed)


def _field(kind: str, name: str, value: Any, redaction: Redaction) -> Any:
    if (kind, name) in LEFT_OUT:
        return _empty(value)
    how = FIELDS.get((kind, name))
    whole = _WHOLE_VALUES.get(how)
    if whole is not None:
        return whole(redaction, value)
    return _value(value, how, redaction)


def _value(value: Any, how: How | None, redaction: Redaction) -> Any:
    """A value of a field, whatever it is made of; `how`: None for a field of which no text
    leaves.
    """
    if isinstance(value, str):
        return _text(value, how, redaction)
    if is_dataclass(value):
        return _thing(value, redaction)
    if isinstance(value, (tuple, list)):
        shown = (_value(one, how, redaction) for one in value)
        return tuple(one for one in shown if how != "sentence" or one != "")
    if isinstance(value, Mapping):
        return {
            _value(key, how, redaction): _value(one, how, redaction) for key, one in value.items()
        }
    if isinstance(value, (bool, int, float, array, type(None))):
        return value
    return _empty(value)


def _text(value: str, how: How | None, redaction: Redaction) -> str:
    if how is None:
        return ""
    plain = english(value)
    shown = redaction.shown(plain, how)
    if shown != plain:
        return shown
    # what is looked for may stand out in one language alone
    return redaction.shown(value, how)


def _empty(value: Any) -> Any:
    return next((empty for kind, empty in _EMPTY if isinstance(value, kind)), None)


def _facts(redaction: Redaction, facts: Mapping[str, object]) -> dict[str, object]:
    shown = (redaction.fact(key, value) for key, value in facts.items())
    return dict(fact for fact in shown if fact is not None)


def _versions(redaction: Redaction, versions: Mapping[str, str]) -> dict[str, str]:
    return {redaction.name(key): redaction.version(key, one) for key, one in versions.items()}


_WHOLE_VALUES: Mapping[How | None, Callable[[Redaction, Any], Any]] = {
    "arguments": Redaction.arguments,
    "facts": _facts,
    "versions": _versions,
}
"""Ways of which a value is read as a whole, and not text by text."""
