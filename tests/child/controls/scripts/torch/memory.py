"""Memory that nobody has initialised, asked for in every way: prints what it holds."""

import json

import torch
from torch import nn
from torch._subclasses import FakeTensorMode

dirty = torch.full((1 << 16,), float("nan"))
del dirty
grown = torch.ones(2).resize_(4)
lazy = nn.LazyLinear(3)
lazy(torch.zeros(2, 2))
floats = {
    "empty": torch.empty(5),
    "empty_like": torch.empty_like(torch.zeros(3)),
    "empty_strided": torch.empty_strided((2, 2), (1, 2)),
    "empty_permuted": torch.empty_permuted((2, 3), (1, 0)),
    "new_empty": torch.zeros(2).new_empty(3),
    "new": torch.zeros(2).new(3),
    "Tensor": torch.Tensor(3),
    "FloatTensor": torch.FloatTensor(3),
    "resize_": grown[2:],
    "Parameter": nn.Parameter(torch.empty(3)).detach(),
    "to_empty": nn.Linear(3, 3, device="meta").to_empty(device="cpu").weight.detach(),
    "channels_last": torch.empty(2, 3, 4, 4, memory_format=torch.channels_last),
    "operator": torch.ops.aten.empty.memory_format([4]),
    "vmap": torch.vmap(lambda x: torch.empty(2) + x)(torch.zeros(3)),
    "large": torch.empty(1 << 22)[-3:],
}
with torch.inference_mode():
    floats["inference"] = torch.empty(3)
kinds = ("float16", "bfloat16", "float32", "float64", "complex64", "uint8", "int32", "int64", "bool")
values = {name: torch.empty(3, dtype=getattr(torch, name)) for name in kinds}
with FakeTensorMode():
    fake = torch.empty(3)
leaf = nn.Parameter(torch.empty(3))
(leaf * 2).sum().backward()
print(
    json.dumps(
        {
            "floats": {name: sorted(set(value.flatten().tolist())) for name, value in floats.items()},
            "finite": {name: bool(torch.isfinite(value).all()) for name, value in values.items()},
            "one": {name: len(set(map(str, value.tolist()))) == 1 for name, value in values.items()},
            "integers": [values[name].tolist() for name in ("uint8", "int32", "int64", "bool")],
            "strides": [*floats["channels_last"].stride()],
            "kept": grown[:2].tolist(),
            "version": torch.empty(3)._version,
            "fake": type(fake).__name__,
            "gradient": leaf.grad.tolist(),
            "meta": str(torch.empty(3, device="meta").device),
        }
    )
)
