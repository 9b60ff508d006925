"""Records each operator that runs, with its inputs and outputs: level `op`.

It records inside one chosen module, or everywhere from the first module to the loss.

A dispatch mode sees operators below autograd, in the forward pass and, because the engine uses the
modes of the calling thread, in the backward pass. There the number of the autograd node tells which
operator of the forward pass, of which module and line, a call belongs to.
"""

import functools
from _thread import _local
from typing import Any, List, Optional

from ...recorder.hooking import around, guarded
from .calls import Call, Calls
from .graph import Walk

_NODES = 200_000
_guarded = guarded("watching operators")


def install(torch: Any, deep: Any, adapter: Any) -> None:
    """Record operators of the module `recorder.inside`, or all of them."""
    operators = Operators(torch, deep, adapter)
    operators.watch()
    deep.recorder.on_fork.append(operators.forked)


class _Thread(_local):
    """The module calls and backward passes that are open in a thread."""

    def __init__(self) -> None:
        self.mode: Any = None
        self.depth = 0  # modules under way, of those that count
        self.passes = 0  # backward passes under way
        self.pushed: List[bool] = []  # for each of these, whether it takes the mode away in the end


class Operators:
    """The dispatch mode that records operators, put in place and taken away."""

    def __init__(self, torch: Any, deep: Any, adapter: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.adapter = adapter
        self.inside = deep.recorder.inside
        self.calls = Calls(torch, deep)
        self.kind = _mode_class(torch, self)
        self.local = _Thread()
        self.generation = 0
        self.worker = torch.utils.data.get_worker_info
        # The modes of dispatch that are in place in this thread, of a script too: to take one away
        # that is not on top would take another one's. `torch.utils._python_dispatch` reads the
        # stack by the same two functions.
        self.modes = torch._C._len_torch_dispatch_stack
        self.top = torch._C._get_dispatch_stack_at

    def watch(self) -> None:
        """Wrap calls of modules, backward passes and updates."""
        self._watch_modules()
        self._watch_engine()
        from torch.optim import optimizer as module

        # where no module holds the weights, operators are recorded between updates
        around(module.Optimizer, "__init__", "watching operators", after=self.begin_bare)
        module.register_optimizer_step_pre_hook(self.before_step)
        module.register_optimizer_step_post_hook(self.begin_bare)

    def forked(self) -> None:
        """Disable the dispatch mode in a forked process if the parent process had it in place."""
        self.generation += 1
        self.local = _Thread()

    def push(self) -> bool:
        """Put the dispatch mode in place in this thread.

        Return False if it is in place already, or the open iterations are not to be recorded yet.
        """
        local = self.local
        if local.mode is not None or self.deep.rests or self.worker() is not None:
            return False
        # entered and left by hand: the two lie in different calls of the script's
        mode = self.kind(self.generation)
        mode.__enter__()
        local.mode = mode
        return True

    def pop(self) -> None:
        """Take the dispatch mode away.

        If the script has put its own mode on top, ours is removed once the script's has gone.
        """
        local = self.local
        modes = self.modes()
        if local.mode is None or not modes:
            return
        if self.top(modes - 1) is local.mode:
            mode, local.mode = local.mode, None
            mode.__exit__(None, None, None)

    def _watch_modules(self) -> None:
        """Wrap `Module._call_impl`, which runs inside the wrapper of the recorder of modules.

        The recorder of modules knows the path of the module by then.
        """
        base, operators = self.torch.nn.Module, self
        real = base._call_impl

        # by hand: what the module raises is seen, too
        @functools.wraps(real)
        def _call_impl(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not operators.counts():
                return real(self, *args, **kwargs)
            operators.enter()
            returned = False
            try:
                output = real(self, *args, **kwargs)
                returned = True
                return output
            finally:
                operators.leave(returned)

        base._call_impl = _call_impl

    def counts(self) -> bool:
        """Return whether operators are recorded in the module that is called.

        Modules that a recorded module calls are recorded, too.
        """
        local = self.local
        # A backward pass that began before the first iteration that is recorded runs to its end
        # without the mode, also where it calls modules again (checkpoints).
        too_early = self.deep.rests or (local.passes and local.mode is None)
        if too_early:
            return False
        return local.depth > 0 or not self.inside or self.deep.module_path() == self.inside

    @_guarded
    def enter(self) -> None:
        """Begin to record operators when a recorded module is called."""
        local = self.local
        local.depth += 1
        takes_away = False
        if local.depth == 1:
            pushed = self.push()
            self.calls.begin()
            takes_away = pushed and not self._may_stay()
        local.pushed.append(takes_away)

    @_guarded
    def leave(self, returned: bool) -> None:
        """End a module call; if it raised (not `returned`), no backward pass follows."""
        local = self.local
        local.depth -= 1
        takes_away = local.pushed.pop()
        within = local.depth or local.passes
        if takes_away or not (returned or within or self._bare()):
            self.pop()

    def _may_stay(self) -> bool:
        """Return whether the dispatch mode can stay until the end of the backward pass.

        It can if operators outside of modules are recorded too, gradients are on, and no mode of
        the script lies below it.
        """
        if self.inside or self.local.passes:
            return False
        return bool(self.torch.is_grad_enabled() and self.modes() == 1)

    def _watch_engine(self) -> None:
        # the place that `losses` hooks, for the reason that it gives there
        variable, operators = self.torch.autograd.Variable, self
        engine = variable._execution_engine
        real = engine.run_backward

        class Engine:
            """The proxy that forwards everything to the engine that was there before."""

            def __getattr__(self, name: str) -> Any:
                return getattr(engine, name)

            @staticmethod
            def run_backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
                handles: List[Any] = []
                operators.before_backward(tensors, handles)
                try:
                    return real(tensors, *args, **kwargs)
                finally:
                    operators.after_backward(handles, kwargs.get("accumulate_grad", False))

        # private, as in `losses`: every backward pass looks the engine up under this name
        variable._execution_engine = Engine()

    @_guarded
    def before_backward(self, tensors: Any, handles: List[Any]) -> None:
        """Put the dispatch mode in place for a backward pass."""
        local = self.local
        local.passes += 1
        local.pushed.append(self.push())
        if local.mode is not None and local.passes == 1:
            self._watch_functions(tensors, handles)

    @_guarded
    def after_backward(self, handles: List[Any], accumulates: bool) -> None:
        """Take the dispatch mode away after a backward pass."""
        local = self.local
        local.passes -= 1
        for handle in handles:
            handle.remove()
        takes_away = local.pushed.pop()
        if not local.passes and not local.depth:
            self.calls.forget()
            if self._bare():
                # What follows has no module to begin with. The pass may have ended the last
                # iteration that was not to be recorded.
                self.begin_bare()
                return
            # `autograd.grad` is not the end of an iteration: another pass may follow
            takes_away = takes_away or (accumulates and not self.inside)
        if takes_away:
            self.pop()

    def _watch_functions(self, tensors: Any, handles: List[Any]) -> None:
        """Record inputs and outputs of the backward of each `autograd.Function` of the script.

        Its computation may use no operator that the dispatch mode sees.
        """
        if not any(map(_of_the_script, self.torch.autograd.Function.__subclasses__())):
            return
        walk = Walk(tensors, _NODES)
        for node in walk:
            # `FunctionMeta` makes a class of nodes for each function, and keeps the function there
            function = getattr(type(node), "_forward_cls", None)
            if function is not None and _of_the_script(function):
                handles.append(node.register_hook(_Function(self.calls, node, function)))
        if walk.cut:
            self.deep.unrecorded("backward", "the graph has more than %d nodes" % _NODES)

    @_guarded
    def begin_bare(self, *_: Any, **__: Any) -> None:
        """Record operators from here on, if the script has no module with weights.

        It is called when an optimizer was built, or has stepped.
        """
        if self._bare() and not self.modes() and not self.local.depth:
            self.push()
            self.calls.begin()

    @_guarded
    def before_step(self, *_: Any) -> None:
        """Take the dispatch mode away, because an update is not recorded operator by operator.

        Modules called in a closure put the mode in place again.
        """
        if not self.local.depth and not self.local.passes:
            self.pop()

    def _bare(self) -> bool:
        return not self.inside and not self.adapter.deep.names.births

    def before(
        self, generation: int, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Optional[Call]:
        """Return the facts about an operator that is about to run; None if it is not recorded."""
        try:
            if generation != self.generation:
                return None
            return self.calls.before(function, types, args, kwargs, self.inside)
        except Exception as error:
            self.deep.recorder.problem("before an operator", error)
            return None

    def after(self, call: Call, output: Any) -> None:
        """Record an operator that has run."""
        try:
            self.calls.after(call, output)
        except Exception as error:
            self.deep.recorder.problem("after an operator", error)


class _Function:
    """A hook of the node of an `autograd.Function`, set for one backward pass."""

    def __init__(self, calls: Calls, node: Any, function: Any) -> None:
        self.calls = calls
        self.name = node.name()
        self.number = node._sequence_nr()
        self.function = function

    @guarded("a function's backward")
    def __call__(self, returned: Any, given: Any) -> None:
        self.calls.backward(self.name, self.number, self.function, given, returned)


def _of_the_script(function: Any) -> bool:
    return not (function.__module__ or "").startswith("torch.")


def _mode_class(torch: Any, operators: Operators) -> Any:
    """Return the class of the dispatch mode, made here because its base class belongs to torch."""
    from torch.utils._python_dispatch import TorchDispatchMode

    # The module has a private name, and torch documents the class all the same, in its notes on
    # extending PyTorch.
    class Recording(TorchDispatchMode):  # type: ignore[misc]
        """The dispatch mode, which calls the recorder before and after each operator."""

        # else an operator of higher order, such as flex attention, is an error while the mode is
        # in place
        supports_higher_order_operators = True

        def __init__(self, generation: int) -> None:
            super().__init__()
            self.generation = generation

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # to keep the mode out of compilers by torch's own means would import them

        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            call = operators.before(self.generation, function, types, args, kwargs)
            output = function(*args, **kwargs)
            if call is not None:
                operators.after(call, output)
            return output

    return Recording
