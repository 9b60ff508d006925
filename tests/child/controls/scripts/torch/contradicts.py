"""Sets by itself, later, what `deterministic`, `single-thread` and `no-compile` want otherwise."""

import json
import sys

import torch
import torch._dynamo.config

before = [torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark]
before += [torch.utils.deterministic.fill_uninitialized_memory, torch.get_num_threads()]
if "agrees" in sys.argv:
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    torch.set_num_threads(1)
else:
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.deterministic = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_num_threads(2)
    torch.set_num_interop_threads(2)
    torch._dynamo.config.disable = False


def double(x):
    """Something to compile."""
    return x * 2


compiled = torch.compile(double, backend="aot_eager")
compiled(torch.ones(2))
after = [torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark]
after += [torch.utils.deterministic.fill_uninitialized_memory, torch.get_num_threads()]
warns = torch.is_deterministic_algorithms_warn_only_enabled()
print(json.dumps({"before": before, "after": after, "warns": warns, "disabled": torch._dynamo.config.disable}))
if "refused" in sys.argv:
    torch.zeros(4).put_(torch.tensor([0, 0]), torch.ones(2))
