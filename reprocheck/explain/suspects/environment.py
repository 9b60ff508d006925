"""Differences of the environment."""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.explain.suspects.look import Look, Suspect

_THREADS = ("torch.threads", "torch.interop_threads", "cpu.", "variable.OMP_", "variable.MKL_", "variable.TF_NUM_", "mindspore.threads")
_MACHINE = ("cpu.model", "platform.machine", "memory.", "cuda.", "npu.", "gpu.", "device")
_NO_MATTER = ("python.hash_seed",)


def environment(look: Look) -> Iterator[Suspect]:
    """The machine, the threads, the versions."""
    kinds: dict[str, list[str]] = {}
    for difference in look.check.environment_differences:
        if difference.key not in _NO_MATTER:
            said = f"`{difference.key}` is {difference.reference} in run 1 and {difference.value} in run {difference.run}."
            kinds.setdefault(_kind_of(difference.key), []).append(said)
    for name in ("other-machine", "thread-count", "version-drift"):
        if name in kinds:
            yield Suspect(name=name, evidence=tuple(kinds[name][:5]))


def _kind_of(key: str) -> str:
    return "other-machine" if key.startswith(_MACHINE) else "thread-count" if key.startswith(_THREADS) else "version-drift"
