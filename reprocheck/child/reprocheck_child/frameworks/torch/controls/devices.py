"""The control `cpu-rng` for PyTorch: an accelerator's draws are made on the CPU and moved.

They come from the CPU's generator.

The kernels of the accelerator that draw are replaced by ones that run the CPU's: so
`torch.rand(device=…)`, `tensor.normal_()`, the initialisers and dropout are reached alike. On the
CPU there is nothing to do.
"""

from typing import Any, Callable, Dict, Tuple

from ....recorder import import_hook
from .dispatch import Kernels, accelerators

OPERATORS = (
    "normal_", "uniform_", "random_", "random_.from", "random_.to", "bernoulli_.float",
    "bernoulli_.Tensor", "exponential_",
    "geometric_", "log_normal_", "cauchy_", "bernoulli", "bernoulli.out", "multinomial", "poisson",
    "binomial", "native_dropout",
    "normal.Tensor_float", "normal.float_Tensor", "normal.Tensor_Tensor", "randperm.generator_out",
    "rrelu_with_noise",
    "_standard_gamma", "_sample_dirichlet",
)  # fmt: skip
"""Operators with a kernel for each device that draw from its generator."""
_CONTROL = "cpu-rng"


def cpu_rng(torch: Any, active: Any) -> None:
    """Replace the kernels that draw random numbers on each accelerator present."""
    kernels = Kernels(torch)
    keys = accelerators(torch)
    for key in keys:
        _replace(kernels, active, key)
    if "PrivateUse1" not in keys:
        import_hook.when_imported("torch_npu", lambda _: _replace(kernels, active, "PrivateUse1"))
    if not keys:
        active.unavailable(_CONTROL, "nothing to do: this PyTorch draws on the CPU only")


def _replace(kernels: Kernels, active: Any, key: str) -> None:
    twins = _Twins(kernels.torch)
    for name in OPERATORS:
        packet, _, overload = name.partition(".")
        where = "%s on %s, torch %s" % (name, key, kernels.torch.__version__)
        with active.trying(_CONTROL, where):
            operator = getattr(getattr(kernels.torch.ops.aten, packet), overload or "default")
            kernels.replace(name, key, _on_the_cpu(kernels.torch, active, operator, twins))


class _Twins:
    """The CPU generators that stand for a device's generators, with their seeds.

    There is one CPU generator for each device generator that the script passes by name.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.known: Dict[int, Tuple[int, Any, Any]] = {}

    def of(self, generator: Any) -> Any:
        """Return the CPU generator for a device generator; a new one after a new seed."""
        seed = generator.initial_seed()
        known, twin, _ = self.known.get(id(generator), (None, None, None))
        if known != seed:
            twin = self.torch.Generator().manual_seed(seed)
            self.known[id(generator)] = seed, twin, generator
        return twin


def _on_the_cpu(torch: Any, active: Any, operator: Any, twins: _Twins) -> Callable[..., Any]:
    """Return an operator that runs on CPU copies of its tensors.

    Tensors that the operator writes into are copied back, and its results are moved to the device.
    """
    # The schema of an operator is private, and as old as `torch.ops`: nothing public says which
    # arguments are written to.
    arguments = operator._schema.arguments
    names = [argument.name for argument in arguments]
    written = {
        argument.name for argument in arguments if getattr(argument.alias_info, "is_write", False)
    }
    what, host, tensor_type = operator._schema.name, torch.device("cpu"), torch.Tensor

    def draw(*args: Any, **kwargs: Any) -> Any:
        device, back = None, []

        def moved(name: str, value: Any) -> Any:
            nonlocal device
            if not isinstance(value, (tensor_type, torch.Generator)) or value.device == host:
                return value
            if isinstance(value, torch.Generator):
                return twins.of(value)
            device = value.device
            if name not in written:
                return value.cpu()
            copy = torch.empty(value.shape, dtype=value.dtype)
            back.append((value, copy))
            return copy

        given = [moved(name, value) for name, value in zip(names, args)]
        named = {name: moved(name, value) for name, value in kwargs.items()}
        result = operator(*given, **named)
        active.touched(_CONTROL, what, str(device))
        for value, copy in back:
            value.copy_(copy)
        originals = {id(copy): value for value, copy in back}

        def returned(value: Any) -> Any:
            if id(value) in originals:
                return originals[id(value)]
            if isinstance(value, tensor_type):
                return value.to(device)
            return value

        if isinstance(result, (tuple, list)):
            return tuple(map(returned, result))
        return returned(result)

    return draw
