"""report.json of a check of a resume. `docs/reference/resume.md` describes it."""

from __future__ import annotations

import json
from typing import Any

from reprocheck.language import english
from reprocheck.model import RunRecord
from reprocheck.redaction import redaction_of
from reprocheck.report.document import plain
from reprocheck.report.json_parts import attributes, ranks_and_failure
from reprocheck.resume import model
from reprocheck.resume.report.rows import Pair, pairs_of

KIND = "resume"
RUN = ("number", "ended", "exit_status", "started", "seconds", "trace")


def render(check: model.ResumeCheck) -> bytes:
    """Return report.json."""
    text = json.dumps(to_json(check), indent=1, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def to_json(check: model.ResumeCheck) -> dict[str, Any]:
    """Return the check as a dictionary that `json.dumps` takes."""
    record, decisive = check.record, check.decisive
    document = {
        "kind": KIND,
        "schema_version": check.asked.schema_version,
        "reprocheck_version": record.reprocheck_version,
        "verdict": decisive.verdict,
        "headline": check.title,
        "reason": decisive.reason,
        "reason_to_paste": redaction_of(check, "paste").sentence(english(decisive.reason)),
        "exit_code": check.exit_code,
        "command": record.entry_point.command,
        "started": record.started,
        "tolerance": attributes(record.tolerance, "rtol", "atol"),
        "go_on": check.asked.go_on,
        "within": check.asked.within,
        "places": [_place(outcome) for outcome in check.outcomes],
        "caveats": check.caveats,
        "coverage": check.coverage,
        "environment": dict(record.environment),
        "facts": _facts(check),
        "settings": {
            setting.name: {"value": setting.value, "origin": setting.origin}
            for setting in record.settings
        },
        "runs": [_run(run, check) for run in record.runs],
    }
    answer: dict[str, Any] = plain(document)
    return answer


def _facts(check: model.ResumeCheck) -> dict[str, object]:
    """Return the facts of the environment that the continued run recorded."""
    continued = (run for run in check.recorded if run.number == model.CONTINUED)
    facts: dict[str, object] = {}
    for run in continued:
        facts |= run.environment
        for trace in run.traces[:1]:
            facts |= trace.environment
    return facts


def _run(record: RunRecord, check: model.ResumeCheck) -> dict[str, object]:
    recorded = (run for run in check.recorded if run.number == record.number)
    more = next(map(ranks_and_failure, recorded), {"world": 0, "failed_at": None})
    return {**attributes(record, *RUN), **more}


def _place(outcome: model.Outcome) -> dict[str, object]:
    checkpoint = outcome.place.checkpoint
    found = None
    if checkpoint is not None:
        found = attributes(checkpoint, "iteration", "by", "line", "paths", "size")
    return {
        "name": outcome.place.name,
        "verdict": outcome.verdict,
        "headline": outcome.title,
        "reason": outcome.reason,
        "checkpoint": found,
        "run": outcome.place.run,
        "command": outcome.place.command,
        "read": outcome.read,
        "offset": outcome.offset.k if outcome.offset else None,
        "compared": outcome.compared,
        "bitwise": _bitwise(outcome),
        "first_divergence": _outside(outcome),
        "losses": [_pair(pair) for rank in outcome.ranks for pair in pairs_of(outcome, rank)],
        "series": [_series(one, outcome.offset) for one in outcome.reported],
        "rungs": [
            attributes(rung, "name", "status", "iteration", "rank", "ranks", "place", "detail")
            for rung in outcome.explained.rungs
        ],
        "mechanism": _mechanism(outcome.explained.mechanism),
        "causes": [_mechanism(cause) for cause in outcome.causes],
        "confirmation": _confirmation(outcome.confirmation),
        "patch": attributes(outcome.repair, "patch", "sentence") if outcome.repair else None,
    }


def _bitwise(outcome: model.Outcome) -> dict[str, object] | None:
    if outcome.losses is None:
        return None
    bitwise = outcome.losses.bitwise
    return {
        "equal": bitwise.equal,
        "first": _numbers(bitwise.first_iteration, outcome.offset),
        "ulp": bitwise.ulp,
    }


def _outside(outcome: model.Outcome) -> dict[str, object] | None:
    outside = outcome.losses.outside if outcome.losses else None
    if outside is None:
        return None
    return {
        "iteration": _numbers(outside.iteration, outcome.offset),
        "rank": outside.rank,
        "continued": outside.reference,
        "resumed": outside.value,
    }


def _numbers(iteration: int | None, offset: model.Offset | None) -> dict[str, int] | None:
    """Return the number of an iteration in the resumed and in the continued run."""
    if iteration is None or offset is None:
        return None
    return {"continued": offset.continued(iteration), "resumed": iteration}


def _pair(pair: Pair) -> dict[str, object]:
    return {
        "iteration": _numbers(pair.iteration, pair.offset),
        "rank": pair.rank,
        "continued": pair.continued,
        "resumed": pair.resumed,
    }


def _series(series: model.Reported, offset: model.Offset | None) -> dict[str, object]:
    values = [
        {**attributes(pair, "continued", "resumed"), "iteration": _numbers(pair.iteration, offset)}
        for pair in series.pairs
    ]
    equal = series.first_unequal is None
    return {**attributes(series, "name", "by", "rank"), "equal": equal, "values": values}


def _mechanism(found: model.Mechanism | None) -> dict[str, object] | None:
    if found is None:
        return None
    lines = [{"role": mark.role, "line": mark.source.at} for mark in found.marks]
    at = found.source.at if found.source else None
    known = attributes(found, "code", "title", "evidence", "fix")
    return {**known, "source": at, "lines": lines}


def _confirmation(found: model.Confirmation | None) -> dict[str, object] | None:
    if found is None:
        return None
    names = ("rungs", "run", "agrees", "acted", "differs", "unavailable")
    return {
        **attributes(found, "confirmed", "rungs", "sentence"),
        "mechanisms": [_mechanism(mechanism) for mechanism in found.mechanisms],
        "attempts": [
            {**attributes(one, *names), "names": dict(one.names)} for one in found.attempts
        ],
    }
