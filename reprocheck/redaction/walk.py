"""Redact a check, a resume or a night.

Each field of the result model is treated by the list of `fields`.
"""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable, Mapping
from dataclasses import fields as fields_of, is_dataclass, replace
from typing import Any, TypeVar

from reprocheck.language import changed, english
from reprocheck.model import EnvironmentDifference, Setting
from reprocheck.model.replay import Argument, Replay
from reprocheck.redaction.fields import FIELDS, LEFT_OUT, How
from reprocheck.redaction.guard import NOT_SHOWN, Redaction
from reprocheck.redaction.masking import REPLACEMENT, printable


def _setting(setting: Setting, redaction: Redaction) -> Setting:
    value = setting.value
    if isinstance(value, str):
        value = redaction.setting(setting.name, value)
    elif isinstance(value, (tuple, list)):
        value = tuple(redaction.setting(setting.name, str(one)) for one in value)
    elif not isinstance(value, (bool, int, float, type(None))):
        value = redaction.value(str(value))
    name = redaction.name(setting.name) if redaction.checked(setting.name) != setting.name else None
    origin = redaction.shown(str(setting.origin), "path")
    return Setting(name=name or setting.name, value=value, origin=origin)


def _difference(one: EnvironmentDifference, redaction: Redaction) -> EnvironmentDifference:
    """Redact a difference of the environment: it is shown even if its values are not."""
    shown = redaction.fact(one.key, one.reference), redaction.fact(one.key, one.value)
    if shown[0] is None or shown[1] is None:
        key = "another fact"
        if one.key == "arguments":
            key = one.key
        elif one.key.startswith("source."):
            key = "source"
        return EnvironmentDifference(key=key, run=one.run, reference=NOT_SHOWN, value=NOT_SHOWN)
    return EnvironmentDifference(
        key=shown[0][0], run=one.run, reference=shown[0][1], value=shown[1][1]
    )


def _replay(one: Replay, redaction: Redaction) -> Replay | None:
    """Return an operation to replay completely, or not at all.

    A part of it would be another operation.
    """
    if redaction.strict and (one.constructor or _holds_text(one.arguments)):
        return None
    text = repr(one)
    if redaction.checked(text) != text:
        return None
    return one


def _holds_text(arguments: tuple[tuple[str, Argument], ...]) -> bool:
    """Return whether an argument, or a part of the argument, is text."""
    values: list[Argument] = [value for _, value in arguments]
    while values:
        value = values.pop()
        if isinstance(value, str):
            return True
        if isinstance(value, tuple):
            values += value
    return False


WHOLE: Mapping[type, Any] = {
    Setting: _setting,
    EnvironmentDifference: _difference,
    Replay: _replay,
}
"""Classes whose fields are read together."""


T = TypeVar("T")

_EMPTY: tuple[tuple[type, Any], ...] = ((str, ""), (tuple, ()), (Mapping, {}))
"""What stands for a value that is left out, by its type; None for all others."""


def redacted(thing: T, redaction: Redaction) -> T:
    """Return the check, resume or night with only the content that may be written.

    In `strict` the sentences that are left out are not replaced.
    """
    shown: T = _value(thing, None, redaction)
    return shown


def _thing(thing: Any, redaction: Redaction) -> Any:
    """Return a dataclass, each of its fields redacted as the tables say."""
    special = WHOLE.get(type(thing))
    if special is not None:
        return _neutral(special(thing, redaction))
    values = {}
    for field in fields_of(thing):
        old = getattr(thing, field.name)
        new = _field(type(thing).__name__, field.name, old, redaction)
        if new is not old:
            values[field.name] = new
    return replace(thing, **values) if values else thing


def _field(kind: str, name: str, value: Any, redaction: Redaction) -> Any:
    if (kind, name) in LEFT_OUT:
        return value if redaction.level == "folder" else _empty(value)
    how = FIELDS.get((kind, name))
    as_whole = _WHOLE_VALUES.get(how)
    if as_whole is not None:
        return _neutral(as_whole(redaction, value))
    return _value(value, how, redaction)


def _neutral(value: Any) -> Any:
    """Return a value without terminal control codes, each of its texts on one line."""
    if isinstance(value, str):
        return _printable(value, "value")
    if isinstance(value, (tuple, list)):
        return tuple(map(_neutral, value))
    if isinstance(value, Mapping):
        return {_neutral(key): _neutral(one) for key, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        texts = {field.name: _neutral(getattr(value, field.name)) for field in fields_of(value)}
        return replace(value, **texts)
    return value


def _value(value: Any, how: How | None, redaction: Redaction) -> Any:
    """Return a redacted value of any type.

    `how`: the way of redaction, None for a field that is not in the tables.
    """
    if isinstance(value, str):
        return _text(value, how, redaction)
    if is_dataclass(value):
        return _thing(value, redaction)
    if isinstance(value, (tuple, list)):
        shown = [_value(one, how, redaction) for one in value]
        if all(map(operator.is_, shown, value)):
            return value
        return tuple(one for one in shown if how != "sentence" or one != "")
    if isinstance(value, Mapping):
        return {
            _value(key, how, redaction): _value(one, how, redaction) for key, one in value.items()
        }
    if isinstance(value, (bool, int, float, array, type(None))):
        return value
    return value if redaction.level == "folder" else _empty(value)


def _text(value: str, how: How | None, redaction: Redaction) -> str:
    if how is None and redaction.level != "folder":
        return ""

    def through(text: str) -> str:
        shown = redaction.checked(text) if how is None else redaction.shown(text, how)
        return _printable(shown, how)

    plain = english(value)
    shown = through(plain)
    if shown != plain and redaction.level != "folder":
        return shown  # what is looked for may stand out in one language alone
    shown = changed(value, through)
    return value if shown == value else shown


def _printable(text: str, how: How | None) -> str:
    """Remove terminal control codes; put a name or a path on one line."""
    text = printable(text)
    if how in (None, "sentence", "text", "log"):
        return text
    return text.replace("\n", REPLACEMENT)


def _empty(value: Any) -> Any:
    return next((empty for kind, empty in _EMPTY if isinstance(value, kind)), None)


def _facts(redaction: Redaction, facts: Mapping[str, object]) -> dict[str, object]:
    shown = (redaction.fact(key, value) for key, value in facts.items())
    return dict(fact for fact in shown if fact is not None)


def _changes(
    redaction: Redaction, changes: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[object, object]]:
    """Return facts that changed; if the values must not be shown, only that they changed."""
    shown: dict[str, tuple[object, object]] = {}
    for key, (then, now) in changes.items():
        was, be = redaction.fact(key, then), redaction.fact(key, now)
        if was is None or be is None:
            shown["another fact"] = NOT_SHOWN, NOT_SHOWN
        else:
            shown[be[0]] = was[1], be[1]
    return shown


def _versions(redaction: Redaction, versions: Mapping[str, str]) -> dict[str, str]:
    return {redaction.name(key): redaction.version(key, one) for key, one in versions.items()}


_WHOLE_VALUES: Mapping[How | None, Callable[[Redaction, Any], Any]] = {
    "arguments": Redaction.arguments,
    "facts": _facts,
    "changes": _changes,
    "versions": _versions,
}
"""Ways of which a value is read as a whole, and not text by text."""
