"""Megatron-LM's golden values: `tests/functional_tests/test_cases/*/*/golden_values_*.json`.

    {"lm loss": {"start_step": 1, "end_step": 100, "step_interval": 5, "values": {"1": 10.84, …}}}

Older files have a list of values: the first of it is that of iteration `start_step` + 1, and each
further one stands `step_interval` iterations behind the one before it. Values are rounded to five
places, and "nan" as a text stands for what was not logged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from reprocheck.suite.baselines.foreign.points import Points


def is_golden(text: str) -> bool:
    """Return whether a text may be a file of Megatron-LM's golden values."""
    return text.lstrip().startswith("{") and '"values"' in text


def read(text: str) -> Iterator[Points]:
    """Yield the series of a golden-values file. Raises ValueError if the text is no such file."""
    whole = json.loads(text)
    if not isinstance(whole, dict):
        raise ValueError("it holds no object")
    for name, one in whole.items():
        # Averages stand beside the series in older files, as numbers.
        if isinstance(one, dict) and "values" in one:
            yield _points(name, one)


def _points(name: str, one: Mapping[str, Any]) -> Points:
    values = one["values"]
    if isinstance(values, list):
        first, interval = int(one["start_step"]) + 1, int(one["step_interval"])
        values = {first + place * interval: value for place, value in enumerate(values)}
    try:
        found = {float(step): float(value) for step, value in values.items()}
    except (TypeError, AttributeError):
        raise ValueError(f"the values of {name!r} are no numbers by step") from None
    logged = {step: value for step, value in found.items() if value == value}
    return Points(name=name, steps=tuple(logged), values=tuple(logged.values()))
