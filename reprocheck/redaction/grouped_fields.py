"""Parts of a check whose fields are read together: settings, differences of the environment,
operations that can be run alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reprocheck.model import EnvironmentDifference, Setting
from reprocheck.model.replay import Argument, Replay
from reprocheck.redaction.guard import NOT_SHOWN, Redaction


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
    """Redact a difference of the environment: that it exists is shown even if its values are
    not.
    """
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
    """Return an operation to replay completely or not at all, because a part of it would be another
    operation.
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
