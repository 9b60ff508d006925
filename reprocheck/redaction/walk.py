"""A check with that alone which may leave: each field of the result model by the list of
`fields`.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import fields as fields_of
from dataclasses import is_dataclass, replace
from typing import Any

from reprocheck.model import Check, EnvironmentDifference, Setting
from reprocheck.redaction.fields import FIELDS, LEFT_OUT, How
from reprocheck.redaction.guard import NOT_SHOWN, Redaction
from reprocheck.redaction.strict import in_plain_words

_EMPTY: tuple[tuple[type, Any], ...] = ((str, ""), (tuple, ()), (Mapping, {}))
"""What stands for a value that is left out, by its type; None for all others."""


def redacted(check: Check, redaction: Redaction) -> Check:
    """The check with that alone which may leave the machine.

    With level `none` it is the check itself.
    """
    if redaction.level == "none":
        return check
    shown: Check = _thing(check, redaction)
    if redaction.strict:
        return in_plain_words(shown)
    return shown


# --------------------------------------------------------------------------------------- the walk


def _thing(thing: Any, redaction: Redaction) -> Any:
    """A dataclass, each of its fields as the list says."""
    special = _SPECIAL.get(type(thing))
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
    if how == "arguments":
        return redaction.arguments(value)
    if how == "facts":
        return _facts(value, redaction)
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
    return redaction.shown(value, how)


def _empty(value: Any) -> Any:
    return next((empty for kind, empty in _EMPTY if isinstance(value, kind)), None)


def _facts(facts: Mapping[str, object], redaction: Redaction) -> dict[str, object]:
    shown = (redaction.fact(key, value) for key, value in facts.items())
    return dict(fact for fact in shown if fact is not None)


def _setting(setting: Setting, redaction: Redaction) -> Setting:
    value = setting.value
    if isinstance(value, str):
        value = redaction.setting(setting.name, value)
    elif isinstance(value, (tuple, list)):
        value = tuple(redaction.setting(setting.name, str(one)) for one in value)
    elif not isinstance(value, (bool, int, float, type(None))):
        value = redaction.value(str(value))
    name = redaction.name(setting.name) if redaction.checked(setting.name) != setting.name else None
    return Setting(
        name=name or setting.name, value=value, origin=redaction.path(str(setting.origin))
    )


def _difference(one: EnvironmentDifference, redaction: Redaction) -> EnvironmentDifference:
    """A difference of the environment: that there is one is shown also where its values are not."""
    shown = redaction.fact(one.key, one.reference), redaction.fact(one.key, one.value)
    if shown[0] is None or shown[1] is None:
        return EnvironmentDifference(
            key=_kind_of_fact(one.key), run=one.run, reference=NOT_SHOWN, value=NOT_SHOWN
        )
    return EnvironmentDifference(
        key=shown[0][0], run=one.run, reference=shown[0][1], value=shown[1][1]
    )


def _kind_of_fact(key: str) -> str:
    if key == "arguments":
        return key
    return "source" if key.startswith("source.") else "another fact"


_SPECIAL: Mapping[type, Any] = {Setting: _setting, EnvironmentDifference: _difference}
"""Classes whose fields are read together."""
