"""Records losses where backward passes start in PyTorch, and updates where optimizers step.

It serves every backend that plugs into PyTorch (torch_npu, CUDA), too.

The backward pass has one choke point, the engine object that every `backward`, `autograd.backward`
and `autograd.grad` calls; optimizers have global step hooks; GradScaler is asked for the loss
before scaling. No module hook, no change to any tensor.
"""

import functools
import sys
import weakref
from _thread import get_ident
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from ...recorder import import_hook
from ...recorder.hooking import around, guarded, install as install_hooks
from ...shared.iterations import BACKWARD, GRAD, LOG
from . import saves
from .series import Series
from .values import Values
from .weights import GraphLeaves, StepWeights


def install(torch: Any, recorder: Any) -> Dict[str, str]:
    """Install the hooks in a freshly imported torch."""
    adapter = _Adapter(torch, recorder)
    functions: List[Any] = []
    steps = {
        "engine": lambda: functions.extend(adapter.hook_engine()),
        "optimizers": lambda: functions.extend(adapter.hook_optimizers()),
        "scaler": lambda: functions.extend(adapter.hook_scaler()),
        "clipping": adapter.series.hook_clipping,
        "saves": lambda: saves.install(torch),
    }
    hooks = install_hooks(torch, steps)
    try:
        _keep_out_of_compilers(torch, functions)
    except Exception as error:
        hooks["compilers"] = "hooks may be compiled in torch %s: %r" % (torch.__version__, error)
    if recorder.goes_deeper():
        from . import deep

        hooks.update(deep.install(torch, recorder, adapter))
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
        self.steps = StepWeights(torch, self.values)
        self.series = Series(torch, recorder, self.values)
        # The number of the backward pass that runs in this thread, -1 outside of all: torch has no
        # public name for it. Its own multi-gradient hooks and FSDP ask the same function.
        self.task = torch._C._current_graph_task_id
        self.tensor = torch.Tensor
        self.built = 0  # optimizers that were ever built
        # whether a step inside a step is possible: two optimizers, or one class above another
        self.nesting = False
        # handle of the pre-hook, which is there as long as weights are looked at
        self.before: Any = None
        # id of a live optimizer -> (its index, a reference that ends the entry with it)
        self.index: Dict[int, Tuple[int, Any]] = {}
        self.last_stepped = 0  # id of the optimizer that stepped last
        # threads in which a step makes the state of an optimizer, and is no update
        self.making_state: Set[int] = set()
        self.deep: Any = None  # what records the deeper levels

    def hook_engine(self) -> List[Any]:
        """Replace the autograd engine by a proxy that reports each backward pass."""
        # `Tensor.backward`, `autograd.backward` and `autograd.grad` are held by name in scripts and
        # libraries before anything could wrap them. All of them look the engine up here at each
        # call (`torch.autograd.graph._engine_run_backward`, in 2.0 `torch.autograd`).
        variable = self.torch.autograd.Variable
        engine = variable._execution_engine
        run, watch, scaled = engine.run_backward, self.on_backward, self.values.unscaled
        recorder, task, plain, adapter = self.recorder, self.task, self.torch.Tensor, self

        class Engine:
            """The proxy that forwards everything to the engine of torch."""

            def __getattr__(self, name: str) -> Any:
                return getattr(engine, name)

            @staticmethod
            def run_backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
                regular = recorder.regular
                # The bulk: one more scalar like the last, in a regular stretch. Each call here
                # costs some µs, the caches are cold: so it is one expression, written by hand, and
                # what differs most often is asked first.
                try:
                    root = tensors[0]
                    seen = (
                        regular is not None
                        and root.dtype is regular.token
                        and type(root) is plain
                        and root.is_cpu
                        and len(tensors) == 1
                        and kwargs.get("accumulate_grad", False) is (regular.kind == BACKWARD)
                        and task() == -1
                        and not scaled
                        and regular.loss(root.item())
                    )
                except Exception:  # no scalar: `watch` looks closer
                    seen = False
                if not seen:
                    watch(tensors, args, kwargs)
                returned = run(tensors, *args, **kwargs)
                if returned and adapter.deep is not None:
                    adapter.deep.after_backward(args, kwargs, returned)
                return returned

        # private: no public hook sees all backward passes; each looks the engine up under this name
        # (torch 2.13)
        variable._execution_engine = Engine()
        return [Engine.run_backward, Engine.__getattr__, self.on_backward]

    def on_backward(self, tensors: Any, args: Any, kwargs: Any) -> None:
        """Record a backward pass that is about to start from `tensors`."""
        try:
            if self.task() != -1:
                return  # inside another backward pass: a reentrant checkpoint, a custom function
            # `backward` alone adds up in the weights; `autograd.grad` returns the gradients
            kind = BACKWARD if kwargs.get("accumulate_grad", False) else GRAD
            root = tensors[0]
            if self.deep is not None:
                self.deep.before_backward(tensors, kind)
            plain = type(root) is self.tensor and root.is_cpu and root.numel() == 1
            if plain and len(tensors) == 1 and not self.values.unscaled:
                if self.before is not None and self.recorder.watching():
                    self._look_at_weights(tensors)
                self.recorder.scalar(root.item(), self.values.dtype_name(root), kind, root.dtype)
                return
            roots = [tensor for tensor in tensors if isinstance(tensor, self.tensor)]
            tracers = ("torch._subclasses", "torch.fx")
            if not roots or any(type(root).__module__.startswith(tracers) for root in roots):
                return  # a compiler traces, nothing is computed
            if self.recorder.watching():
                self._look_at_weights(roots)
            self._record(roots, args, kind)
        except Exception as error:
            self.recorder.problem("reading a loss", error)

    def _record(self, roots: List[Any], args: Any, kind: str) -> None:
        # the first argument behind the roots: the gradients that the pass starts with, one a root
        given = args[0] if args else ()
        gradients = list(given) if isinstance(given, (tuple, list)) else [given]
        gradients += [None] * (len(roots) - len(gradients))
        losses = list(map(self.values.loss, roots, gradients))
        self._write(losses, kind, max(root.numel() for root in roots))

    def _write(self, losses: List[Any], kind: str, numel: int) -> None:
        dtype: Any = [self.values.dtype_name(loss) for loss in losses]
        if len(set(dtype)) == 1:
            dtype = dtype[0]
        if all(loss.is_cpu for loss in losses):
            self.recorder.loss([loss.item() for loss in losses], dtype, kind, numel)
        else:
            self.recorder.later(len(losses), self.values.copy_aside(losses, dtype), kind, numel)

    def _look_at_weights(self, roots: List[Any]) -> None:
        """Check, until the first real update was seen, whether weights changed since the last look.

        The change may come from a running step or from code that updates by hand.
        """
        optimizer = self.steps.under_way.get(get_ident())
        if optimizer is not None:
            if self.steps.changed(optimizer):
                self.recorder.moved()
        elif not self.built:
            changed = self.leaves.changed(roots)
            if changed:
                self.recorder.moved()
            elif changed is not None:
                self.recorder.still()

    def log(self, value: Any) -> bool:
        """Log a torch tensor as `log_loss` does, also one that lies on a device."""
        if not isinstance(value, self.torch.Tensor):
            return False
        self._write([self.values.loss(value, None)], LOG, value.numel())
        return True

    def hook_optimizers(self) -> List[Any]:
        """Set the global hooks of optimizer steps, and hook the constructor of each optimizer."""
        from torch.optim import optimizer as module

        self.watch_steps()
        import_hook.when_imported("torch.distributed.checkpoint.state_dict", self.watch_state)
        module.register_optimizer_step_post_hook(self.after_step)
        real, adapter = module.Optimizer.__init__, self

        # By hand: dynamo is told to leave this very function alone (`_keep_out_of_compilers`), and
        # what `around` makes shares its code with all other hooks.
        @functools.wraps(real)
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            real(optimizer, *args, **kwargs)
            with guarded("an optimizer was built"):
                adapter.register(optimizer)
                if adapter.deep is not None:
                    adapter.deep.optimizer_built(optimizer)

        module.Optimizer.__init__ = __init__
        return [
            self.before_step,
            self.after_step,
            __init__,
            self.register,
        ]

    def register(self, optimizer: Any) -> int:
        """Give an optimizer its index.

        It gets one when it is built, or at its first step if it skipped `__init__` (unpickled).
        """
        index = int(self.recorder.optimizer(type(optimizer).__name__))
        identity = id(optimizer)
        self.index[identity] = (
            index,
            weakref.ref(optimizer, lambda _: self.index.pop(identity, None)),
        )
        self.built = index + 1
        # torch wraps the `step` of each class of which an object is made, and marks it `hooked`
        # (`Optimizer._patch_step_function`, `profile_hook_step`): `super().step` then calls the
        # global hooks again.
        steps = [vars(owner).get("step") for owner in type(optimizer).__mro__]
        wrapped = sum(getattr(step, "hooked", False) for step in steps)
        self.nesting = self.nesting or wrapped > 1 or index > 0
        return index

    def index_of(self, optimizer: Any) -> int:
        """Return the index of an optimizer, registered or not."""
        known = self.index.get(id(optimizer))
        if known is None:
            return self.register(optimizer)
        return known[0]

    def inside_step(self, frame: Any) -> bool:
        """Return whether the step whose wrapper runs in `frame` is no update by itself.

        Such a step was called by another step, or only initialises an optimizer's state.
        """
        if get_ident() in self.making_state:
            return True
        return bool(self.nesting) and _is_inner(frame)

    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Keep the weights before a step, as global pre-hook of `Optimizer.step`.

        The pre-hook is removed once an update was seen to change weights.
        """
        try:
            if get_ident() in self.making_state:
                return
            if self.recorder.watching() and not _is_inner(sys._getframe(1)):
                self.steps.keep(optimizer)
        except Exception as error:
            self.recorder.problem("before an update", error)

    def watch_steps(self) -> None:
        """Add the global pre-hook if it is not set."""
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        if self.before is None:
            self.before = register_optimizer_step_pre_hook(self.before_step)

    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Record an update, as global post-hook of `Optimizer.step`.

        A step inside another one (of a wrapped optimizer, `super().step`) is part of the outer
        update.
        """
        try:
            if get_ident() in self.making_state:
                return
            self.last_stepped = id(optimizer)
            if self.nesting and _is_inner(sys._getframe(1)):
                return
            changed = None
            if self.before is not None:
                if self.recorder.watching():
                    changed = self.steps.look(optimizer)
                else:
                    self.before.remove()
                    self.before = None
            index = self.index_of(optimizer)
            self.series.rates.look(optimizer, index, self.built)
            if self.deep is not None:
                self.deep.after_step(optimizer, index, args, kwargs)
            regular = self.recorder.regular
            if regular is None or changed is not None or not regular.update(index):
                self.recorder.update(index, changed)
        except Exception as error:
            self.recorder.problem("after an update", error)

    def watch_state(self, module: Any) -> None:
        """Exclude the steps that torch's functions for distributed checkpoints make.

        They let an optimizer without state step once, with gradients and a learning rate of zero,
        to create the state that a checkpoint is loaded into.
        """

        def before(*_: Any) -> Callable[[Any], None]:
            me = get_ident()
            self.making_state.add(me)
            return lambda _: self.making_state.discard(me)

        # private: `torch.distributed.checkpoint.state_dict` makes the steps there (torch 2.13)
        around(module, "_init_optim_state", "the making of an optimizer's state", before=before)

    def hook_scaler(self) -> List[Any]:
        """Wrap `scale` and `step` of every GradScaler class, also of classes defined later.

        A backend may define its class during `import torch`.
        """
        # The base of all: `torch.cuda.amp.GradScaler` derives from it, and so do those of FSDP and
        # of backends. What a class overrides is its own, so each class is hooked by itself.
        from torch.amp.grad_scaler import GradScaler

        adapter = self

        def __init_subclass__(owner: Any, /, **kwargs: Any) -> None:  # noqa: N807
            super(GradScaler, owner).__init_subclass__(**kwargs)
            adapter.wrap_scaler(owner)

        owners = [GradScaler]
        for owner in owners:
            self.wrap_scaler(owner)
            owners += owner.__subclasses__()
        GradScaler.__init_subclass__ = classmethod(__init_subclass__)
        return [self.values.remember_unscaled]

    def wrap_scaler(self, owner: Any) -> None:
        """Make a scaler class remember the loss it scaled, and report the steps it skips."""
        real = _unhooked(owner, "scale")
        if real is not None:
            # by hand: also called from compiled code, where this very function is left alone
            @functools.wraps(real)
            def scale_and_remember(scaler: Any, outputs: Any) -> Any:
                scaled = real(scaler, outputs)
                with guarded("scaling a loss"):
                    self.values.remember_unscaled(outputs, scaled)
                return scaled

            owner.scale = scale_and_remember
            _keep_out_of_compilers(self.torch, [scale_and_remember])
        if _unhooked(owner, "step") is not None:
            around(owner, "step", "a step of a scaler", before=self.before_scaled_step)
        if _unhooked(owner, "update") is not None:
            seen = self.series.after_scaler_update
            around(owner, "update", "a new scale of a scaler", after=seen)

    def before_scaled_step(
        self, scaler: Any, optimizer: Any, *args: Any, **kwargs: Any
    ) -> Callable[[Any], None]:
        """Note that a scaler is asked to let an optimizer step.

        The scaler skips the step if a gradient is not finite. Its return value does not tell;
        whether the hooks of the step were called does.
        """
        self.last_stepped = 0

        def after(answer: Any) -> None:
            if self.last_stepped != id(optimizer):
                self.recorder.skip()

        return after

    def find_rank(self) -> Optional[Tuple[int, int]]:
        """Return (rank, number of ranks) once `torch.distributed` is initialised."""
        distributed = self.torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        return None

    def forked(self) -> None:
        """Reset the watched weights in a forked process, which watches its own."""
        self.leaves = GraphLeaves(self.torch)
        self.steps = StepWeights(self.torch, self.values)
        self.series.rates.last.clear()
        self.watch_steps()


def _is_inner(frame: Any) -> bool:
    """Return whether the optimizer step that runs in `frame` was called by another step.

    All wrappers of torch share one code object, by which the outer step is recognised.
    """
    # `profile_hook_step` makes one `wrapper` for each class of optimizers, out of the same code
    code, frame = frame.f_code, frame.f_back
    while frame is not None:
        if frame.f_code is code:
            return True
        frame = frame.f_back
    return False


def _unhooked(owner: Any, name: str) -> Any:
    """Return the method `name` if a class defines it and it is not hooked yet, else None."""
    real = vars(owner).get(name)
    return None if hasattr(real, "__wrapped__") else real


def _keep_out_of_compilers(torch: Any, functions: List[Any]) -> None:
    """Mark hook functions so that dynamo runs them uncompiled.

    Compiled code may call them. Dynamo itself is not imported here, because that takes 1.6 s.
    """
    functions = [getattr(function, "__func__", function) for function in functions]
    # What `torch.compiler.disable` leaves on a function: dynamo looks for it where compiled code
    # calls one.
    for function in functions:
        function._torchdynamo_disable = True
        function._torchdynamo_disable_msg = "recorder"
    from torch._C import _dynamo

    # Where a hook is called by itself, dynamo asks for its code alone. Newer versions keep a
    # strategy a code object (for its own frame, and for those that it calls), older ones a set of
    # codes to skip.
    eval_frame: Any = _dynamo.eval_frame
    if not hasattr(eval_frame, "set_code_exec_strategy"):
        for function in functions:
            eval_frame.skip_code(function.__code__)
        return
    skip = eval_frame._FrameAction.SKIP
    strategy = eval_frame._FrameExecStrategy(skip, skip)
    for function in functions:
        eval_frame.set_code_exec_strategy(function.__code__, strategy)
