"""PyTorch and every backend that plugs into it (torch_npu, CUDA): losses where backward passes start, updates where optimizers step.

The backward pass has one choke point, the engine object that every `backward`, `autograd.backward` and `autograd.grad` calls; optimizers
have global step hooks; GradScaler is asked for the loss before scaling. No module hook, no change to any tensor.
"""

import functools
import weakref
from typing import Any, Dict, List, Optional, Tuple

from ..iterations import BACKWARD, GRAD, LOG
from .torch_values import Values
from .torch_weights import GraphLeaves, StepWeights

NAME = "torch"
MINIMUM = (2, 1)


def install(torch: Any, recorder: Any) -> Dict[str, str]:
    """Hook a freshly imported torch."""
    adapter = _Adapter(torch, recorder)
    hooks = {}
    for name in ("engine", "optimizers", "scaler"):
        try:
            skipped = getattr(adapter, "hook_" + name)()
            _keep_out_of_compilers(torch, skipped)
            hooks[name] = "ok"
        except Exception as error:
            hooks[name] = "not available in torch %s: %r" % (torch.__version__, error)
    recorder.find_rank.append(adapter.find_rank)
    recorder.readers["torch"] = adapter.log
    recorder.on_fork.append(adapter.forked)
    return hooks


class _Adapter:
    def __init__(self, torch: Any, recorder: Any) -> None:
        self.torch = torch
        self.recorder = recorder
        self.values = Values(torch)
        self.leaves = GraphLeaves(torch)
        self.steps = StepWeights(torch)
        self.index: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.stepped: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.open_steps: Dict[int, List[Tuple[int, Any]]] = {}  # thread -> steps under way, outermost first: (frame, optimizer)

    # ------------------------------------------------------------------------------------------------ backward

    def hook_engine(self) -> List[Any]:
        """Put a proxy in the place of the autograd engine."""
        variable = self.torch.autograd.Variable
        engine = variable._execution_engine
        run, watch = engine.run_backward, self.on_backward

        class Engine:
            """Forwards everything to the engine of torch."""

            def __getattr__(self, name: str) -> Any:
                return getattr(engine, name)

            def run_backward(self, tensors: Any, *args: Any, **kwargs: Any) -> Any:
                watch(tensors, args, kwargs)
                return run(tensors, *args, **kwargs)

        variable._execution_engine = Engine()
        return [Engine.run_backward, Engine.__getattr__, self.on_backward.__func__]

    def on_backward(self, tensors: Any, args: Any, kwargs: Any) -> None:
        """A backward pass is about to start from `tensors`."""
        torch, recorder = self.torch, self.recorder
        try:
            if torch._C._current_graph_task_id() != -1:
                return  # inside another backward pass: a reentrant checkpoint, a custom function
            roots = [tensor for tensor in tensors if isinstance(tensor, torch.Tensor)]
            if not roots or any(type(root).__module__.startswith(("torch._subclasses", "torch.fx")) for root in roots):
                return  # a compiler traces, nothing is computed
            kind = BACKWARD if kwargs.get("accumulate_grad", False) else GRAD
            if recorder.watching():
                self._look_at_weights(roots)
            self._record(roots, args[0] if args else (), kind)
        except Exception as error:
            recorder.problem("reading a loss", error)

    def _record(self, roots: List[Any], gradients: Any, kind: str) -> None:
        gradients = list(gradients) if isinstance(gradients, (tuple, list)) else [gradients]
        gradients += [None] * (len(roots) - len(gradients))
        losses = [self.values.loss(root, gradient) for root, gradient in zip(roots, gradients)]
        dtypes = [str(loss.dtype).replace("torch.", "") for loss in losses]
        numel = max(root.numel() for root in roots)
        dtype: Any = dtypes[0] if len(set(dtypes)) == 1 else dtypes
        if all(loss.device.type == "cpu" for loss in losses):
            self.recorder.loss([loss.item() for loss in losses], dtype, kind, numel)
        else:
            self.recorder.later(len(losses), self.values.copy_aside(losses, dtype), kind, numel)

    def _look_at_weights(self, roots: List[Any]) -> None:
        """Before the first real update: did weights change since they were last seen, inside a step or by hand?"""
        steps = self.open_steps.get(self.recorder.thread())
        if steps:
            if self.steps.changed(steps[0][1]):
                self.recorder.moved()
        elif not self.index:
            changed = self.leaves.changed(roots)
            if changed is not None:
                (self.recorder.moved if changed else self.recorder.still)()

    def log(self, value: Any) -> bool:
        """`log_loss` of a torch tensor, also of one that lies on a device."""
        if not isinstance(value, self.torch.Tensor):
            return False
        loss = self.values.loss(value, None)
        dtype = str(loss.dtype).replace("torch.", "")
        if loss.device.type == "cpu":
            self.recorder.loss([loss.item()], dtype, LOG, value.numel())
        else:
            self.recorder.later(1, self.values.copy_aside([loss], dtype), LOG, value.numel())
        return True

    # ------------------------------------------------------------------------------------------------ updates

    def hook_optimizers(self) -> List[Any]:
        """Global step hooks, and the birth of each optimizer."""
        from torch.optim import optimizer as module

        module.register_optimizer_step_pre_hook(self.before_step)
        module.register_optimizer_step_post_hook(self.after_step)
        real, adapter = module.Optimizer.__init__, self

        @functools.wraps(real)
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            real(optimizer, *args, **kwargs)
            adapter.register(optimizer)

        module.Optimizer.__init__ = __init__
        return [self.before_step.__func__, self.after_step.__func__, __init__, self.register.__func__]

    def register(self, optimizer: Any) -> int:
        """The index of an optimizer, a new one if it was not known (unpickled ones skip `__init__`)."""
        try:
            if optimizer not in self.index:
                self.index[optimizer] = self.recorder.optimizer(type(optimizer).__name__)
            return self.index[optimizer]
        except Exception as error:
            self.recorder.problem("an optimizer was built", error)
            return 0

    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Global pre-hook of `Optimizer.step`; steps inside a step (a wrapper's inner optimizer, `super().step`) are part of it."""
        try:
            import sys

            frame = sys._getframe(1)
            steps = self.open_steps.setdefault(self.recorder.thread(), [])
            while steps and not _is_below(frame, steps[-1][0]):
                steps.pop()  # left by an exception
            steps.append((id(frame), optimizer))
            if len(steps) == 1 and self.recorder.watching():
                self.steps.keep(optimizer)
        except Exception as error:
            self.recorder.problem("before an update", error)

    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Global post-hook of `Optimizer.step`: an update, unless it happened inside another."""
        try:
            steps = self.open_steps.get(self.recorder.thread(), [])
            if steps:
                steps.pop()
            self.stepped[optimizer] = self.stepped.get(optimizer, 0) + 1
            if not steps:
                changed = self.steps.look(optimizer) if self.recorder.watching() else None
                self.recorder.update(self.register(optimizer), changed)
        except Exception as error:
            self.recorder.problem("after an update", error)

    # ------------------------------------------------------------------------------------------------ loss scaling

    def hook_scaler(self) -> List[Any]:
        """Wrap `scale` and `step` of each GradScaler class when the first of its instances is built."""
        from torch.amp.grad_scaler import GradScaler

        real, adapter = GradScaler.__init__, self

        @functools.wraps(real)
        def __init__(scaler: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            for owner in type(scaler).__mro__:
                adapter.wrap_scaler(owner)
            real(scaler, *args, **kwargs)

        GradScaler.__init__ = __init__
        return [__init__, self.values.remember_unscaled.__func__]

    def wrap_scaler(self, owner: Any) -> None:
        """Make a scaler class remember what it scaled, and report steps that it skips."""
        scale, step = vars(owner).get("scale"), vars(owner).get("step")
        if scale is not None and not hasattr(scale, "__wrapped__"):

            @functools.wraps(scale)
            def scale_and_remember(scaler: Any, outputs: Any) -> Any:
                scaled = scale(scaler, outputs)
                self.values.remember_unscaled(outputs, scaled)
                return scaled

            owner.scale = scale_and_remember
            _keep_out_of_compilers(self.torch, [scale_and_remember])
        if step is not None and not hasattr(step, "__wrapped__"):

            @functools.wraps(step)
            def step_and_look(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
                before = self.stepped.get(optimizer, 0)
                answer = step(scaler, optimizer, *args, **kwargs)
                if self.stepped.get(optimizer, 0) == before:
                    self.recorder.skip()
                return answer

            owner.step = step_and_look

    # ------------------------------------------------------------------------------------------------ the process

    def find_rank(self) -> Optional[Tuple[int, int]]:
        """(rank, number of ranks) once `torch.distributed` is initialised."""
        distributed = self.torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        return None

    def forked(self) -> None:
        """A forked process begins with no step under way and no weights seen."""
        self.open_steps.clear()
        self.leaves = GraphLeaves(self.torch)
        self.steps = StepWeights(self.torch)


def _is_below(frame: Any, identity: int) -> bool:
    """Whether the frame with this id is `frame` or one of its callers."""
    while frame is not None:
        if id(frame) == identity:
            return True
        frame = frame.f_back
    return False


def _keep_out_of_compilers(torch: Any, functions: List[Any]) -> None:
    """Mark hooks so that dynamo runs them as they are, called from compiled code or by themselves, without importing it (1.6 s)."""
    for function in functions:
        function._torchdynamo_disable = True
        function._torchdynamo_disable_msg = "recorder"
    from torch._C._dynamo import eval_frame

    for function in functions:
        if hasattr(eval_frame, "set_code_exec_strategy"):
            skip = eval_frame._FrameAction.SKIP
            eval_frame.set_code_exec_strategy(function.__code__, eval_frame._FrameExecStrategy(skip, skip))
        else:
            eval_frame.skip_code(function.__code__)
