"""Each training of `modules.py` in a fork of its own: `forked.py ITERATIONS NAME…` prints what it prints, and what is left of
hooks at its end.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import traceback
import types

import modules
import numpy.random
import torch
import torch._dynamo  # every optimizer imports it; here it is done once, before the processes part
from torch.nn.modules import module as registry
from torch.optim import optimizer as optimizers


def is_ours(value: object) -> bool:
    if "reprocheck_child" in str(getattr(type(value), "__module__", "")):
        return True
    return isinstance(value, types.FunctionType) and "reprocheck_child" in value.__code__.co_filename


def left_of_hooks() -> list[str]:
    owners = [torch, torch.nn.Module, torch.Tensor, torch.random, torch.serialization, random, numpy.random, torch.utils.data.dataloader._BaseDataLoaderIter, torch.utils.data.DataLoader]
    found = [f"{owner.__name__}.{name}" for owner in owners for name, value in list(vars(owner).items()) if is_ours(value)]
    found = [name for name in found if name != "torch.serialization._open_zipfile_writer"]  # stands there at level `loss`
    found = [name for name in found if not name.startswith(("_BaseDataLoaderIter.", "DataLoader."))]  # stay, for mirrors
    tables = [registry._global_parameter_registration_hooks, registry._global_buffer_registration_hooks, registry._global_module_registration_hooks]
    hooks = [hook for table in [*tables, optimizers._global_optimizer_pre_hooks] for hook in table.values()]
    # level `loss` has a hook of its own before a step
    return found + [str(hook) for hook in hooks if not type(hook.__self__).__module__.endswith("torch.losses")]



for name in sys.argv[2:]:
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        print(name, os.waitstatus_to_exitcode(status))
        continue
    status = 1
    try:
        modules.ITERATIONS = int(sys.argv[1])
        random.seed(0)
        torch.manual_seed(0)
        getattr(modules, name)()
        state = repr(random.getstate()).encode() + torch.get_rng_state().numpy().tobytes()
        print("generators", hashlib.sha256(state).hexdigest(), torch.rand(3).tolist())
        print("hooks", name, left_of_hooks())
        sys.stdout.flush()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
