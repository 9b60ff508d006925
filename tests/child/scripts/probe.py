"""What a program can see of the interpreter around it, as JSON in the file named by the first argument."""

import json
import os
import random
import signal
import sys
import threading


def look(name, read):
    try:
        seen[name] = repr(read())
    except Exception as error:
        seen[name] = "raises " + repr(error)


seen = {}
import numpy  # noqa: E402
import torch  # noqa: E402

torch.manual_seed(3)
random.seed(3)
numpy.random.seed(3)
weights = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([weights], 0.1)
for _ in range(3):
    optimizer.zero_grad()
    torch.nn.functional.dropout((weights - torch.rand(3)).pow(2), 0.5).sum().backward()
    optimizer.step()

main = sys.modules["__main__"]
look("argv", lambda: sys.argv[1:])
look("argv[0]", lambda: os.path.basename(sys.argv[0]))
look("path", lambda: sys.path)
look("main", lambda: sorted(name for name in vars(main) if name.startswith("__") and name != "__cached__"))
look("file", lambda: main.__file__)
look("spec", lambda: main.__spec__)
look("loader", lambda: type(main.__loader__))
look("builtins", lambda: main.__builtins__)
look("cwd", os.getcwd)
look("environment", lambda: sorted(os.environ.items()))
look("flags", lambda: (sys.flags, sys.warnoptions, sys.dont_write_bytecode))
look("hooks", lambda: (sys.excepthook, sys.displayhook, threading.excepthook, sys.unraisablehook, sys.gettrace(), sys.getprofile()))
look("threads", lambda: (threading.active_count(), torch.get_num_threads(), torch.get_num_interop_threads()))
look("signals", lambda: [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)])
look("streams", lambda: [(stream.encoding, stream.errors, stream.line_buffering) for stream in (sys.stdout, sys.stderr)])
look("recursion", sys.getrecursionlimit)
look("random", lambda: (random.getstate()[1][:4], random.random()))
look("numpy", lambda: numpy.random.get_state()[1][:4].tolist())
look("torch", lambda: torch.get_rng_state().sum().item())
look("weights", lambda: [value.hex() for value in weights.tolist()])
look("flags of torch", lambda: (torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark, torch.get_default_dtype()))
look("hooks of torch", lambda: torch.nn.modules.module._global_forward_hooks)
look("repr of backward", lambda: torch.Tensor.backward.__module__)
look("signature", lambda: __import__("inspect").signature(torch.optim.SGD.__init__))
look("descriptor", lambda: os.dup(0))
with open(sys.argv[1], "w") as file:
    json.dump(seen, file)
print("to stdout: \N{SNOWMAN}")
sys.stdout.buffer.write(b"\xff\x00 raw bytes\n")
print("to stderr", file=sys.stderr)
raise ValueError("the end")
