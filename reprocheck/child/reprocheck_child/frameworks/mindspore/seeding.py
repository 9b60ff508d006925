"""`seed_all` for MindSpore."""

from typing import Any

from ...seed_all import Setter, yes

PERIOD = (1 << 31) - 1
"""MindSpore takes seeds modulo this."""


def seed(setter: Setter, mindspore: Any) -> None:
    """Seed MindSpore for `seed_all`."""
    seed = setter.seed
    setter.call("mindspore.set_seed(%d)" % seed, lambda: mindspore.set_seed, seed)
    setter.call("mindspore.manual_seed(%d)" % seed, lambda: mindspore.manual_seed, seed)
    setter.call(
        "mindspore.dataset.config.set_seed(%d)" % seed,
        lambda: mindspore.dataset.config.set_seed,
        seed,
    )
    if seed and seed % PERIOD == 0:
        setter.advice.append(
            "MindSpore takes seeds modulo 2147483647, and its operators take 0 for no seed: choose"
            " another seed"
        )
    setter.advice.append(
        "Dropout of MindSpore on a CPU also needs"
        " mindspore.device_context.cpu.op_tuning.threads_num(1)"
    )
    if not setter.mode:
        return
    if not yes(
        lambda: (
            mindspore.device_manager.DeviceManagerConf.get_instance().is_deterministic_configured()
        )
    ):
        setter.call("mindspore.set_deterministic(True)", lambda: mindspore.set_deterministic, True)
    elif not yes(lambda: mindspore.get_context("deterministic") == "ON"):
        setter.kept.append(
            "mindspore.set_deterministic(False) was called, and can be called only once"
        )
