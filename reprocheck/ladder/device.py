"""The kind of device that a check ran on (`cpu`, `cuda`, `npu`), by the record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reprocheck.model import Check

CPU = "cpu"
_FACTS = {"torch.cuda.devices": "cuda", "torch.npu.devices": "npu"}
"""Facts of the environment that are recorded once the script has used such a device."""
_TARGET = "mindspore.device_target"


def kind(name: object) -> str:
    """Return the kind of a device from the name that a framework uses: `cuda` for `cuda:0` or
    `GPU`, `npu` for `Ascend`.
    """
    plain = str(name or CPU).lower().partition(":")[0]
    return plain.replace("ascend", "npu").replace("gpu", "cuda")


def device_of(check: Check) -> str:
    """Return the kind of accelerator that a run used; `cpu` if none was used."""
    return next((name for name in _used(check) if name != CPU), CPU)


def _used(check: Check) -> Iterator[str]:
    rung = check.first_rung
    if rung is not None:
        yield kind(rung.measured.device)
    for run in check.runs:
        for trace in run.traces:
            yield from _of_facts(trace.environment)
        yield from _of_facts(run.environment)


def _of_facts(facts: Mapping[str, object]) -> Iterator[str]:
    yield from (device for fact, device in _FACTS.items() if facts.get(fact))
    if _TARGET in facts:
        yield kind(facts[_TARGET])
