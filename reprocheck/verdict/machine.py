"""Tell series of the machine (times, speeds, amounts of memory) from series of the training.

A series of the machine differs between any two runs, so it is kept but not compared. The whole
words in the name of a series decide, by the tables in this module; `docs/reference/series.md`
describes them.
"""

from __future__ import annotations

import re
from itertools import pairwise

_WORD = re.compile(r"/s\b|[KMGT]i?B\b|[A-Z]?[a-z]+|[A-Z]+")
GROUPS = frozenset(
    {
        *("time", "times", "timing", "timings", "timer", "timers", "time_metrics"),
        *("throughput", "memory", "mem"),
    }
)
"""What stands before the first `/` of names that are a machine's, whatever follows: torchtitan and
scripts sort what they log in this way. `DeviceStatsMonitor.…` of Lightning is another.
"""
MACHINE = frozenset(
    {
        *("time", "times", "timestamp", "clock", "wall", "walltime", "runtime", "elapsed"),
        *("duration", "latency", "sec", "secs", "seconds", "ms", "minutes", "hours"),
        *("/s", "speed", "throughput", "fps", "tps", "qps", "mfu", "flops", "tflops"),
        *("mem", "memory", "vram", "rss", "bytes", "megabytes", "gigabytes"),
        *("kib", "mib", "gib", "tib", "gb", "tb", "watts", "utilization", "util"),
    }
)
"""Words of a time, a speed or memory: those that transformers (`speed_metrics`), Lightning
(`ThroughputMonitor`), Megatron-LM, torchtitan, MLflow's system metrics and scripts use.
"""
RATES = frozenset({"second", "minute", "hour"})
"""Words of a time behind `per`: `samples_per_second`, and not `second_order`."""
DEVICES = frozenset({"gpu", "gpus", "cpu", "npu", "cuda", "device", "disk", "network"})
"""Alone they only say where a number is from: `val_loss/gpu0` is a loss."""
OF_A_DEVICE = frozenset(
    {
        *("percent", "percentage", "usage", "used", "free", "load", "temp", "temperature"),
        *("power", "fan", "alloc", "allocated", "reserved", "swap"),
    }
)
"""Words of a machine beside one of DEVICES: `gpu_temp`, and not `temperature`."""
QUANTITIES = frozenset(
    {
        *("loss", "losses", "nll", "ce", "bce", "kl", "mse", "mae", "rmse", "entropy"),
        *("perplexity", "ppl", "acc", "accuracy", "error", "score", "reward", "return"),
        *("auc", "bleu", "rouge", "iou", "precision", "recall", "norm", "grad", "gradient"),
        *("lr", "embedding", "weight", "bias"),
    }
)
"""What trainings compute. A name that ends in one is the training's, whatever stands before it:
`memory_loss`, `time_embedding_norm`, and not `clip_grad_time`.
"""
PASSED_OVER = frozenset(
    {
        *DEVICES,
        *("rank", "node", "mean", "avg", "average", "max", "min", "median", "std", "sum"),
        *("total", "last", "epoch", "step"),
    }
)
"""Words at the end of a name that say where a number is from, or how it was gathered."""
STEPS = frozenset({("time", "step"), ("time", "steps")})
"""`time_step` is a place in a sequence; how long a step took is `step_time`."""


def is_of_a_machine(name: str) -> bool:
    """Return whether the name of a series is that of a time, a speed or a memory size."""
    if name.startswith("DeviceStatsMonitor."):
        return True
    group, slash, _ = name.partition("/")
    if slash and group.lower() in GROUPS:
        return True
    words = [word.lower() for word in _WORD.findall(name)]
    last = next((word for word in reversed(words) if word not in PASSED_OVER), "")
    if last in QUANTITIES:
        return False
    pairs = set(pairwise(words))
    if not DEVICES.isdisjoint(words) and not OF_A_DEVICE.isdisjoint(words):
        return True
    if any(first == "per" and second in RATES for first, second in pairs):
        return True
    return not MACHINE.isdisjoint(words) and STEPS.isdisjoint(pairs)
