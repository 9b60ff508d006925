"""`seed_all` for PyTorch and torch_npu."""

import sys
from typing import Any

from ...seed_all import Setter, yes


def seed_torch(setter: Setter, torch: Any) -> None:
    """Seed PyTorch for `seed_all`."""
    seed = setter.seed
    setter.call("torch.manual_seed(%d)" % seed, lambda: torch.manual_seed, seed)
    if (
        yes(lambda: torch.backends.cuda.is_built())
        or "torch_npu.contrib.transfer_to_npu" in sys.modules
    ):
        setter.call("torch.cuda.manual_seed(%d)" % seed, lambda: torch.cuda.manual_seed, seed)
        setter.call(
            "torch.cuda.manual_seed_all(%d)" % seed, lambda: torch.cuda.manual_seed_all, seed
        )
    else:
        setter.absent.append("torch.cuda")
    for name, value in (("enabled", False), ("benchmark", False), ("deterministic", True)):
        setter.put(
            "torch.backends.cudnn.%s = %r" % (name, value),
            lambda: torch.backends.cudnn,
            name,
            value,
        )
    if setter.mode:
        setter.call(
            "torch.use_deterministic_algorithms(True)",
            lambda: torch.use_deterministic_algorithms,
            True,
        )
    setter.advice.append(
        "torch.Generator objects keep their own seeds: generator.manual_seed(%d)" % seed
    )


def seed_npu(setter: Setter, torch_npu: Any) -> None:
    """Seed torch_npu for `seed_all`."""
    seed, npu = setter.seed, torch_npu.npu
    setter.call("torch_npu.npu.manual_seed(%d)" % seed, lambda: npu.manual_seed, seed)
    setter.call("torch_npu.npu.manual_seed_all(%d)" % seed, lambda: npu.manual_seed_all, seed)
