"""Records the series of PyTorch, one value for each iteration.

They are the gradient norm that clipping returns, the learning rate at each update, the loss scale,
and tensors that the script gives to an experiment tracker.

Nothing here waits for a device: a value on one is copied to the host in the background, as losses
are.
"""

from _thread import get_ident
from typing import Any, Dict, List, Set

from ...recorder import import_hook
from ...recorder.hooking import guarded, replace
from .pending_values import is_capturing
from .values import copy_aside

BY = "torch"


class Series:
    """The series of values that torch computes and a training reports, such as gradient norms."""

    def __init__(self, torch: Any, recorder: Any, values: Any) -> None:
        self.torch = torch
        self.series = recorder.series
        self.values = values
        self.rates = Rates(torch, self.series)
        self.clipping: Set[int] = set()
        """Threads that are inside a function that clips: FSDP's calls the one of torch."""
        # Private, and what functorch itself asks: such a tensor has the class of any other, and
        # `item` raises.
        self.is_transformed = getattr(
            torch._C._functorch, "is_functorch_wrapped_tensor", lambda tensor: False
        )
        self.series.readers["torch"] = self.read

    def read(self, tensor: Any) -> Any:
        """Return the reading of a tensor with one element: see `series.Series.readers`."""
        if not isinstance(tensor, self.torch.Tensor):
            return None
        is_traced = type(tensor).__module__.startswith(("torch._subclasses", "torch.fx"))
        if is_traced or self.is_transformed(tensor):
            return None  # a compiler or a transformation traces, nothing is computed
        value = tensor.detach()
        # A DTensor: the part that this rank has (see `Values.loss`).
        if hasattr(value, "to_local"):
            value = value.to_local()
        number = value.numel() == 1 and value.dtype is not self.torch.bool
        if not number or value.is_complex() or value.is_meta:
            return None
        dtype = self.values.dtype_name(value)
        if value.is_cpu:
            return value.item(), dtype
        if is_capturing(self.torch, value.device):
            return None
        fetch = copy_aside(self.torch, [value])

        def later(wait: bool) -> Any:
            copies = fetch(wait)
            return None if copies is None else (copies[0].item(), dtype)

        return later

    def hook_clipping(self) -> None:
        """Set hooks on `clip_grad_norm_` and the method of FSDP.

        Lightning, Transformers and Accelerate call the function, too. Raises AttributeError before
        torch 2.2.
        """
        from torch.nn.utils import clip_grad

        # Scripts compile what clips: dynamo takes the answer for a constant, and compiles the
        # function of torch alone.
        self.is_compiling = self.torch.compiler.is_compiling
        # the older `clip_grad_norm` calls it by the name in its module
        replace(clip_grad, "clip_grad_norm_", self._returning, also=[self.torch.nn.utils])
        # since 2.6 a script may compute the norm, reduce it over ranks itself, and then clip by it
        replace(self.torch.nn.utils, "clip_grads_with_norm_", self._given)
        import_hook.when_imported(
            "torch.distributed.fsdp.fully_sharded_data_parallel", self._hook_fsdp
        )

    @guarded("clipping of FSDP")
    def _hook_fsdp(self, module: Any) -> None:
        replace(module.FullyShardedDataParallel, "clip_grad_norm_", self._returning)

    def _returning(self, real: Any) -> Any:
        is_compiling, inside = self.is_compiling, self.clipping

        def clip_grad_norm_(*args: Any, **kwargs: Any) -> Any:
            if is_compiling():
                return real(*args, **kwargs)
            thread = get_ident()
            if thread in inside:
                return real(*args, **kwargs)
            inside.add(thread)
            try:
                norm = real(*args, **kwargs)
            finally:
                inside.discard(thread)
            self.series.add("grad_norm", norm, None, BY)
            return norm

        return clip_grad_norm_

    def _given(self, real: Any) -> Any:
        is_compiling = self.is_compiling

        def clip_grads_with_norm_(
            parameters: Any, max_norm: Any, total_norm: Any, *args: Any, **kwargs: Any
        ) -> Any:
            if not is_compiling():
                self.series.add("grad_norm", total_norm, None, BY)
            return real(parameters, max_norm, total_norm, *args, **kwargs)

        return clip_grads_with_norm_

    def after_scaler_update(self, _: None, scaler: Any, *__: Any, **___: Any) -> None:
        """Record the scale that a GradScaler has set for the next iteration."""
        # Private: `get_scale` waits for the device. None while the scaler is off or not used yet.
        scale = scaler._scale
        if scale is not None:
            self.series.keep("loss_scale", scale, BY)


class Rates:
    """The last learning rates of all optimizers; only changes are recorded."""

    def __init__(self, torch: Any, series: Any) -> None:
        self.tensor = torch.Tensor
        self.series = series
        self.last: Dict[int, List[Any]] = {}
        """Index of an optimizer -> what its groups had last."""
        self.names: Dict[int, List[str]] = {}

    def look(self, optimizer: Any, index: int, built: int) -> None:
        """Record the learning rates that changed since an optimizer's last step.

        index  the number of the optimizer, in the order in which they were built
        built  how many optimizers were built so far: the only one needs no number in the name of
               its series
        """
        groups = optimizer.param_groups
        last = self.last.get(index)
        if last is None or len(last) != len(groups):
            last = self._begin(index, len(groups), built)
        for place, group in enumerate(groups):
            rate = group.get("lr")
            # a float cannot change itself: the same one is the same rate
            if rate is not last[place] or type(rate) is not float:
                self._report(index, place, rate)

    def _begin(self, index: int, groups: int, built: int) -> List[Any]:
        """Name the series of an optimizer's parameter groups; a group keeps its name."""
        names = self.names.setdefault(index, [])
        if not names and groups == 1 and built == 1:
            names.append("learning_rate")
        while len(names) < groups:
            names.append("learning_rate/%d.%d" % (index, len(names)))
        self.last[index] = [None] * groups
        return self.last[index]

    @guarded("a learning rate")
    def _report(self, index: int, place: int, rate: Any) -> None:
        last = self.last[index]
        if isinstance(rate, self.tensor):
            # Schedulers write into it. Its version says so without a look at the device; nothing
            # public does.
            mark = (id(rate), rate._version)
            if mark == last[place]:
                return
            last[place] = mark
        else:
            last[place] = rate
        self.series.keep(self.names[index][place], rate, BY)
