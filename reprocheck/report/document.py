"""report.json: the machine-readable result. Its schema is `report.schema.json` beside this module.

`docs/reference/report-json.md` describes it.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

from reprocheck.language import english
from reprocheck.model import Cause, Check, Ladder, LossSeries, Recorded, Run, Rung, Trace
from reprocheck.redaction import redaction_of
from reprocheck.report import (
    compared,
    controls,
    files,
    mirrors,
    scan_findings,
    seeds,
    series,
    variations,
    words,
)
from reprocheck.report.json_parts import attributes, ranks_and_failure, source_line
from reprocheck.report.text import valid

ITERATIONS, MOST_LOSSES = 1000, 200_000
"""How many iterations of each rank stand in `runs`, and how many losses of all ranks together; the
diverging one is added, all are in losses.csv.
"""


def to_json(check: Check) -> dict[str, Any]:
    """Return the check as a dictionary that `json.dumps` takes.

    Keys as documented, numbers finite or null, no lone surrogates.
    """
    record, verdict = check.record, check.verdict
    names = ("key", "run", "reference", "value")
    document = {
        "schema_version": record.schema_version,
        "reprocheck_version": record.reprocheck_version,
        "verdict": verdict.verdict,
        "headline": verdict.title,
        "failed_check": verdict.failed_check,
        "reason": verdict.reason,
        "reason_to_paste": redaction_of(check, "paste").sentence(english(verdict.reason)),
        "exit_code": verdict.exit_code,
        "command": record.entry_point.command,
        "started": record.started,
        "checks": _checks(check),
        "tolerance": attributes(record.tolerance, "rtol", "atol"),
        "bitwise": attributes(verdict.bitwise, "equal", "first_iteration", "ulp"),
        "first_divergence": _diverging(check),
        "stopped_early": check.stopped_early,
        "outcomes": _outcomes(check),
        "series": series.document(check),
        "lead": _lead(check),
        "ladder": _ladder(check.ladder),
        "causes": [_cause(cause) for cause in check.causes],
        "controls": controls.document(check),
        "variations": variations.document(check),
        "mirrors": mirrors.document(check),
        "seed_effect": seeds.document(check),
        "scan": scan_findings.document(check.scan),
        "compared": compared.document(check),
        "state_left": check.state_left,
        "files": files.document(check),
        "changed_to_observe": check.changed_to_observe,
        "caveats": words.caveats(check),
        "coverage": check.coverage,
        "environment": {
            "facts": facts(check),
            "not_recorded": not_recorded(check),
            "differences": [attributes(row, *names) for row in check.environment_differences],
        },
        "settings": {
            setting.name: {"value": setting.value, "origin": setting.origin}
            for setting in record.settings
        },
        "runs": _runs(check),
    }
    answer: dict[str, Any] = plain(document)
    return answer


def render(check: Check) -> bytes:
    """Return report.json."""
    text = json.dumps(to_json(check), indent=1, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def _diverging(check: Check) -> int | None:
    """Return the first iteration outside the tolerance."""
    divergence = check.verdict.first_divergence
    if divergence is None:
        return None
    return divergence.iteration


def _checks(check: Check) -> list[dict[str, object]]:
    names = (
        "iteration",
        "kind",
        "run",
        "rank",
        "loss_index",
        "passed",
        "max_difference",
        "allowed",
        "ulp",
    )
    return [attributes(row, *names) for row in check.verdict.comparisons]


def _outcomes(check: Check) -> dict[str, object]:
    outcomes = check.verdict.outcomes
    names = ("iteration", "rank", "mean", "standard_deviation")
    return {
        "groups": [group.runs for group in outcomes.groups],
        "bound": outcomes.bound,
        "statement": outcomes.statement,
        "statistics": [attributes(row, *names) for row in outcomes.statistics],
    }


def _lead(check: Check) -> dict[str, object] | None:
    lead, rung = check.lead, check.leading
    if lead is None:
        return None
    place: dict[str, object] = dict.fromkeys(("place", "iteration", "rank"))
    if rung is not None:
        place = attributes(rung, *place)
    return {
        "rung": lead.rung,
        **place,
        "sentence": lead.sentence,
        "cause": lead.cause or None,
        "source": source_line(lead.source),
    }


def _ladder(ladder: Ladder | None) -> dict[str, object] | None:
    if ladder is None:
        return None
    return {
        "sentence": ladder.sentence,
        "level": ladder.level,
        "came_back": ladder.came_back,
        "rungs": [_rung(rung) for rung in ladder.rungs],
        "first": ladder.first,
        "replay": None if ladder.replay is None else ladder.replay.name,
    }


def _rung(rung: Rung) -> dict[str, object]:
    names = (
        "rung",
        "status",
        "iteration",
        "rank",
        "place",
        "culprit",
        "size",
        "relative_difference",
        "detail",
    )
    operator = rung.operator.name if rung.operator is not None else None
    return {
        **attributes(rung, *names),
        "operator": operator,
        "source": source_line(rung.source),
    }


def _cause(cause: Cause) -> dict[str, object]:
    names = ("code", "title", "confidence", "evidence", "fix")
    return {**attributes(cause, *names), "source": source_line(cause.source)}


def facts(check: Recorded, number: int = 1) -> dict[str, object]:
    """Return facts of the environment: of the check, of a run, and of its first rank.

    Later ones override earlier ones.
    """
    found = dict(check.record.environment)
    for run in check.runs[number - 1 : number]:
        found |= run.environment
        for trace in run.traces[:1]:
            found |= trace.environment
        for name, own in run.own_variables.items():
            found[f"variable.{name}.set_to"] = own.value
            found[f"variable.{name}.set_at"] = own.line
    return found


def not_recorded(check: Check) -> list[str]:
    """Return the names of facts that run 1 did not record itself.

    These are facts of the parent process, and those that the script set.
    """
    recorded: set[str] = set()
    for run in check.runs[:1]:
        recorded.update(run.environment)
        for trace in run.traces[:1]:
            recorded.update(trace.environment)
    return sorted(facts(check).keys() - recorded)


def _runs(check: Check) -> list[dict[str, object]]:
    diverging = _diverging(check)
    share = MOST_LOSSES // max(len(check.traces), 1)
    return [_run(run, diverging, share) for run in check.runs]


def _run(run: Run, diverging: int | None, share: int) -> dict[str, object]:
    return {
        "number": run.number,
        "exit_status": run.record.exit_status,
        "seconds": round(run.record.seconds, 6),
        **ranks_and_failure(run),
        "ranks": [
            {"rank": trace.rank, "iterations": _iterations(trace, diverging, share)}
            for trace in run.traces
        ],
    }


def _iterations(trace: Trace, diverging: int | None, share: int) -> list[dict[str, object]]:
    """Return iterations with at most `share` losses, the diverging one if it has no more."""
    series = trace.losses
    chosen = list(range(1, bisect_right(series.ends, share, hi=min(len(series), ITERATIONS)) + 1))
    if diverging is not None and len(chosen) < diverging <= len(series):
        start, end = series.span(diverging)
        if end - start <= share:
            chosen.append(diverging)
    return [{"iteration": iteration, "losses": _losses(series, iteration)} for iteration in chosen]


def _losses(series: LossSeries, iteration: int) -> list[dict[str, object]]:
    start, end = series.span(iteration)
    return [_loss(series, index) for index in range(start, end)]


def _loss(series: LossSeries, index: int) -> dict[str, object]:
    value = series.values[index]
    found: dict[str, object] = {"value": value, "hex": value.hex(), "dtype": series.dtype(index)}
    if index in series.exact:
        found["exact"] = valid(series.exact[index])
    return found


def plain(value: Any) -> Any:
    """Return a value in JSON's types.

    Non-finite numbers as null, tuples as lists, sentences in English, dictionary keys and other
    objects as strings.
    """
    if isinstance(value, str):
        return valid(english(value))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (bool, int, float, type(None))):
        return value
    if isinstance(value, Mapping):
        return {valid(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return valid(str(value))
