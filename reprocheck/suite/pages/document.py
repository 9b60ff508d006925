"""night.json: a night for machines. Its schema is `night.schema.json` beside this module."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from reprocheck.model import SourceLine
from reprocheck.report.json_parts import attributes, source_line
from reprocheck.report.text import valid
from reprocheck.suite.model import (
    NightReport,
    ShownTarget,
    Suspect,
    TargetCheck,
    TargetReport,
    TargetState,
)
from reprocheck.suite.pages import words

SCHEMA_VERSION = 1
_OF_NIGHT = ("id", "started", "ended", "shard", "commit", "executor", "reprocheck_version")
_OF_CHECK = (
    "verdict", "failed_check", "exit_code", "reason", "good", "bitwise", "first_bitwise",
    "first_divergence", "rung", "place", "commit", "started", "seconds", "rtol", "atol", "folder",
)  # fmt: skip
_OF_DIFFERENCE = (
    "series",
    "rank",
    "first_bit",
    "step",
    "ulp",
    "beyond",
    "relative",
    "value",
    "other",
    "missing",
    "new",
    "loose",
)
_OF_BASELINE = ("why", "who", "when", "night", "commit", "bitwise")


def to_json(report: NightReport) -> dict[str, object]:
    """Return the night as a dictionary that `json.dumps` takes: numbers finite or null."""
    return {
        "schema_version": SCHEMA_VERSION,
        "night": attributes(report.night, *_OF_NIGHT),
        "headline": words.headline(report),
        "failed": [one.name for one in report.failed],
        "states": report.counts,
        "seconds": report.seconds,
        "targets": [target(one) for one in report.targets],
    }


def render(report: NightReport) -> bytes:
    """Render night.json."""
    text = json.dumps(clean(to_json(report)), indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode() + b"\n"


def clean(value: object) -> object:
    """Convert a value to what JSON can hold.

    Non-finite numbers become null, texts valid Unicode.
    """
    match value:
        case Mapping():
            return {valid(str(name)): clean(inner) for name, inner in value.items()}
        case list() | tuple():
            return list(map(clean, value))
        case float() if not math.isfinite(value):
            return None
        case str():
            return valid(value)
    return value


def target(one: TargetReport) -> dict[str, object]:
    """Return a target's result in a night as a dictionary for JSON."""
    return {
        "name": one.name,
        "tags": one.tags,
        "attempts": len(one.attempts),
        **_state(one.state),
        "last_checked": one.last_checked,
        "sentence": words.sentence(one),
        **_people(one.target or ShownTarget()),
        "check": _check(one.check),
        "baseline": attributes(one.baseline, *_OF_BASELINE) if one.baseline else None,
    }


def _people(target: ShownTarget) -> dict[str, object]:
    issue = target.known_issue
    return {
        "owner": target.owner,
        "known_issue": attributes(issue, "why", "until", "link") if issue else None,
        "quarantine": target.quarantine,
    }


def _state(state: TargetState | None) -> dict[str, object]:
    if state is None:
        return {
            "state": None,
            "failed": False,
            "since": "",
            "changed": {},
            "drift": [],
            "operation": "",
            "suspect": None,
        }
    return {
        "state": state.state,
        "failed": state.failed,
        "since": state.since or state.night,
        "changed": {
            name: {"then": then, "now": now} for name, (then, now) in state.changed.items()
        },
        "drift": [attributes(difference, *_OF_DIFFERENCE) for difference in state.drift],
        "operation": state.operation,
        "suspect": _suspect(state.suspect),
    }


def _suspect(suspect: Suspect) -> dict[str, object] | None:
    if suspect == Suspect():
        return None
    return {
        **attributes(suspect, "report", "diff", "commits"),
        "source": source_line(SourceLine.of(suspect.source)),
    }


def _check(check: TargetCheck | None) -> dict[str, object] | None:
    if check is None:
        return None
    return {
        **attributes(check, *_OF_CHECK),
        "causes": check.causes,
        "source": source_line(SourceLine.of(check.source)),
        "key": {"digest": check.key.digest, "facts": dict(check.key.facts)},
        "beside": dict(check.beside),
        "measures": dict(check.measures),
    }
