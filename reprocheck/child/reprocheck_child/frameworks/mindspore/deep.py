"""Levels `module` and `op` for MindSpore.

They record what each cell was given and returned, gradients, hyper-parameters and weights.

Gradients and updates are seen by the hooks of level `loss`, which run them by `forward`, `backward`
and `update`. All other hooks are put by `Deep.hooks`: level `auto` takes them away again. Where a
graph had to stay compiled (see `open`), what can be seen from outside is recorded: batches, losses,
weights after each update.
"""

import os
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ...deep_levels import facts as deeper, leaves
from ...host.facts import Facts
from ...recorder.hooking import guarded, install as install_hooks
from . import graph
from .cells import Cells
from .data import Batches, Given, Seeds, hook_births, hook_loading
from .pynative import Opening, is_graph_mode
from .training_state import Held
from .values import Fingerprints, listed

OPERATORS = "operators are not recorded one by one for MindSpore: cells are"
HIDDEN = (
    "runs as a compiled graph: cells, gradients and optimizer states inside are hidden, weights and"
    " losses are not"
)
SCHEDULE = (
    "the value that %s gives is recorded only where the optimizer calls it outside compiled code"
)
OTHER_FORM = "gradients of another form than the parameters' are not recorded"
HYPER = ("learning_rate", "weight_decay", "momentum", "beta1", "beta2", "eps", "loss_scale")
SKIPPED = frozenset({"params", "kwargs"})


def install(recording: Any) -> Dict[str, str]:
    """Install the hooks of the deeper levels, over the hooks of level `loss`.

    Return what became of each hook.
    """
    watcher = recording.deep = Watcher(recording)
    if recording.recorder.level == "op":
        watcher.deep.unrecorded("operators", OPERATORS)
    steps: Dict[str, Callable[[], None]] = {
        "seeds": watcher.seeds.hook,
        "other seeds": watcher.seeds.hook_others,
        "parameters": watcher.hook_births,
        "batches": watcher.batches.hook,
        "loaded checkpoints": lambda: hook_loading(watcher.deep),
        "each model": watcher.hook_model,
        "each cell": watcher.cells.hook,
        "compiled functions": watcher.cells.hook_executor,
        "loss scalers": watcher.hook_scalers,
        "compilers": watcher.hook_compilers,
    }
    return install_hooks(recording.mindspore, steps)


class Watcher:
    """The shared part of the deep hooks, and the course of an iteration.

    That is first forward, root, gradients, update.
    """

    def __init__(self, recording: Any) -> None:
        mindspore, recorder = recording.mindspore, recording.recorder
        self.recording = recording
        self.recorder = recorder
        self.deep = deeper.of(recorder)
        self.deep.loss_first = True
        self.hooks = self.deep.hooks
        self.deep.foreign.append(
            os.path.join(os.path.dirname(os.path.abspath(mindspore.__file__)), "")
        )
        prints: Any = Fingerprints(mindspore, self.deep)
        self.first = recorder.first
        """At level `auto`: when all of this is taken away."""
        if self.first is not None:
            self.first.on_leave.append(self.leave)
            prints.read = self.first.timed(prints.read)
            prints.samples = self.first.timed(prints.samples)
        self.prints = prints
        self.opening = Opening(mindspore, recorder, self.deep)
        self.seeds = Seeds(mindspore, recorder, self.deep)
        self.facts = Facts(self.deep, self.prints)
        self.given = Given(self.facts, self.prints)
        self.cells = Cells(recording, self.deep, self.prints, self.given, self.first_call)
        self.cells.scheduled = self._scheduled
        self.batches = Batches(self.facts, self._shared_generators)
        self.scalers: List[Any] = []
        # parameters whose first values were recorded; keeps them, so that ids stay theirs
        self._weights: Dict[int, Any] = {}
        self._taking = 0  # depth of gradient functions under way
        self._out: Tuple[Any, Any] = (None, None)  # function and output of the forward half
        self._rooted = False  # a root was recorded since the last update
        self._updated: List[int] = []  # optimizers whose update was seen since the last one counted
        self._stepping: Optional[Any] = None
        self._hyper: Dict[int, Any] = {}
        self._said = False  # that a training is recorded deeply
        self.held = Held(self)
        if self.deep.boundary is not None:
            self.held.watch()

    def leave(self) -> None:
        """Remove all hooks from MindSpore when level `auto` stops recording deeper facts."""
        self.recording.deep = None
        self.deep.leave()
        self.cells.unwatch_all()
        self._weights.clear()

    def hook_compilers(self) -> None:
        """Run graphs operator by operator, because cells inside a graph are not seen.

        At level `auto` graphs stay compiled, and recording of the deeper level stops.
        """
        if self.first is None:
            self.opening.hook()
        else:
            graph.watch(self.hooks, self.first)

    def hook_births(self) -> None:
        """Set hooks on the making of parameters."""
        hook_births(self.recording.mindspore, self.facts, self.seeds)

    def _shared_generators(self) -> None:
        self.cells.private_generators = False

    def first_call(self, cell: Any) -> None:
        """Record the parameters of an outermost cell before it is called."""
        self.begin(self._of_network(cell))
        if is_graph_mode():
            self.deep.unrecorded(type(cell).__name__, HIDDEN)

    def begin(self, parameters: Any) -> None:
        """Record new parameters, and those written to since their update.

        At the first call, the states of generators are recorded, too.
        """
        if self.first is not None and is_graph_mode():
            self.first.leave(graph.GRAPH_MODE)
            return
        parameters = list(parameters)
        for parameter in parameters:
            self.facts.written(id(parameter), parameter.name, parameter)
        new = [weight for weight in parameters if id(weight) not in self._weights]
        for parameter in new:
            self._weights[id(parameter)] = parameter
            birth = self.facts.birth(parameter)
            buffer = not parameter.requires_grad
            self.facts.first_value(parameter.name, parameter, birth, buffer)
        self.facts.first_forward()

    def hook_model(self) -> None:
        """Record the weights of a Model before its first batch."""
        from mindspore.train.model import Model

        def _train(model: Any, *_: Any, **__: Any) -> None:
            self.begin(self._of_network(model.train_network))

        self.hooks.around(Model, "_train", "a Model's weights", before=_train)

    def _of_network(self, cell: Any) -> List[Any]:
        """Return the parameters of a cell without those that its optimizers keep for themselves."""
        optimizers = [
            inner
            for _, inner in cell.cells_and_names()
            if isinstance(inner, self.recording.optimizers)
        ]
        updated = {id(parameter) for optimizer in optimizers for parameter in optimizer.parameters}
        own = {
            id(parameter) for optimizer in optimizers for parameter in optimizer.get_parameters()
        } - updated
        return [parameter for parameter in cell.get_parameters() if id(parameter) not in own]

    def forward(self, real: Any, function: Any, *args: Any, **named: Any) -> Any:
        """Run the forward half (loss) of `value_and_grad`, `grad`, `GradOperation`."""
        if not self._taking:
            self.deep.goes_on("mindspore")
            args = self.held.given.instead(args)
        self._taking += 1
        try:
            out = real(function, *args, **named)
        finally:
            self._taking -= 1
        if not self._taking:
            self._out = (function, out)
            self._rooted = True
        return out

    def before_backward(self, function: Any, has_aux: bool) -> None:
        """Note that the backward half is about to run; its loss is not counted yet."""
        known, out = self._out
        if not self._taking and known is function:
            self._out = (None, None)
            self._root(out, has_aux)

    def backward(
        self,
        real: Any,
        function: Any,
        grad: Any,
        weights: Any,
        position: Any,
        has_aux: bool,
        *args: Any,
    ) -> Any:
        """Run the backward half (gradients) of `value_and_grad`, `grad`, `GradOperation`."""
        outermost = not self._taking
        args = self.held.given.same(args)
        self._taking += 1
        try:
            gradients = real(function, grad, weights, position, has_aux, *args)
        finally:
            self._taking -= 1
        if outermost:
            self.cells.unwatch_all()
            if weights is not None:
                self._gradients(weights, gradients)
        return gradients

    @guarded("a root")
    def _root(self, out: Any, has_aux: bool) -> None:
        if has_aux and isinstance(out, (tuple, list)):
            out = out[0]
        self.deep.seen("root", "loss", out=self.prints.leaves(out))

    @guarded("gradients")
    def _gradients(self, weights: Any, gradients: Any) -> None:
        parameters = listed(weights)
        wanted = [weight.shape for weight in parameters]
        values = listed(gradients)
        # where inputs are differentiated too, the gradients of weights stand behind theirs
        candidates = [values, *map(listed, values[-1:])]
        for given in candidates:
            if [getattr(weight, "shape", None) for weight in given] == wanted:
                names = [parameter.name for parameter in parameters]
                self.facts.gradients("gradient", zip(names, given))
                return
        self.deep.unrecorded("gradients", OTHER_FORM)

    def update(self, real: Any, optimizer: Any, *args: Any, **named: Any) -> Any:
        """Run a call of an optimizer, inside other cells too."""
        inside = self.cells.around
        inner = inside.hidden
        if not inner:
            self._before_update(optimizer, args)
        inside.hidden += 1
        self._stepping = optimizer
        try:
            out = real(optimizer, *args, **named)
        finally:
            inside.hidden -= 1
            self._stepping = None
        if not inner:
            self._after_update(optimizer)
        return out

    @guarded("before an update")
    def _before_update(self, optimizer: Any, args: Tuple[Any, ...]) -> None:
        self.begin(optimizer.parameters)
        self.deep.seen("rng", "before update", g=self.deep.rng())
        self._say_hyper(optimizer, self.hyper(optimizer))
        index = self.recording.index_of(optimizer)
        gradients = args[0] if args and isinstance(args[0], (list, tuple)) else args
        for parameter, gradient in zip(optimizer.parameters, gradients):
            self.deep.seen("reduced", parameter.name, o=index, out=self.prints.leaves(gradient))

    @guarded("after an update")
    def _after_update(self, optimizer: Any) -> None:
        index = self.recording.index_of(optimizer)
        for name, value in self.states(optimizer):
            is_weight = id(value) in self._weights
            self.facts.updated(name, value, index, key=id(value) if is_weight else None)
        self._updated.append(index)

    def weights(self) -> List[Any]:
        """Return the parameters whose first values were recorded."""
        return list(self._weights.values())

    def states(self, optimizer: Any) -> List[Tuple[str, Any]]:
        """Return (name, value) of parameters and states: `0.weight`, `0.weight:moments`.

        States that belong to no parameter are left out.
        """
        named = [(parameter.name, parameter) for parameter in optimizer.parameters]
        names = {name for name, _ in named}
        for name, state in optimizer.parameters_and_names():
            kind, _, owner = str(state.name or name).partition(".")
            if owner in names:
                named.append((owner + ":" + kind, state))
        return named

    def stepped(self, optimizers: Sequence[Any]) -> None:
        """Record updates made inside a graph, before they are counted."""
        self._rooted = False
        seen, self._updated = self._updated, []
        for optimizer in optimizers:
            if self.recording.index_of(optimizer) not in seen:
                self.deep.unrecorded(self._name(optimizer), HIDDEN)
                self._say_hyper(
                    optimizer, self._hyper.pop(id(optimizer), None) or self.hyper(optimizer)
                )
                self._after_update(optimizer)
                self._updated.clear()

    @guarded("before a step")
    def before_step(self, optimizers: Sequence[Any]) -> None:
        """Record the parameters before a step of a Model or a compiled step runs."""
        for optimizer in optimizers:
            self.begin(optimizer.parameters)
            self._hyper[id(optimizer)] = self.hyper(optimizer)
        self.deep.goes_on("mindspore")

    def lost(self, tensors: Sequence[Any]) -> None:
        """Record a loss whose backward pass was not seen."""
        if not self._said:
            self._said = True
            self.recorder.emit({"e": "deep", "level": "module"})
        if not self._rooted:
            self.facts.differentiated(tensors)

    def hyper(self, optimizer: Any) -> List[List[Any]]:
        """Return the hyper-parameters of an optimizer as leaves, and the scales of loss scalers."""
        # mindspore.experimental.optim and mindspore.mint.optim have groups, `nn.Optimizer` not
        given = getattr(optimizer, "param_groups", None)
        if given is None:
            # what it was built with, and in its place what holds now
            now = {name: getattr(optimizer, name) for name in HYPER if hasattr(optimizer, name)}
            given = [{**(getattr(optimizer, "init_args", None) or {}), **now}]
        step = getattr(optimizer, "global_step", None)
        leaves = []
        for number, values in enumerate(given):
            prefix = "param_groups[%d]." % number if number else ""
            for name, value in values.items():
                if name not in SKIPPED:
                    name = {"learning_rate": "lr"}.get(name, name)
                    leaves += self._number(prefix + name, value, step)
        for scaler in filter(None, [reference() for reference in self.scalers]):
            leaves += self._number(type(scaler).__name__ + ".scale_value", scaler.scale_value)
        return leaves

    def _number(self, name: str, value: Any, step: Any = None) -> List[List[Any]]:
        if isinstance(value, (list, tuple)) or (
            hasattr(value, "construct") and hasattr(value, "__iter__")
        ):
            result: List[List[Any]] = []
            before: List[Any] = []
            for number, item in enumerate(value):  # one for each parameter: told where it changes
                found_here = self._number("%s[%d]" % (name, number), item, step)
                values = [leaf for _, leaf in found_here]
                if values and values != before:
                    result += found_here
                    before = values
            return result
        if hasattr(value, "construct"):
            value = self._of_schedule(name, value, step)
            if value is None:
                return []
        if hasattr(value, "asnumpy"):
            if value.size != 1:
                return [[name, self.prints.of(value)]]
            value = value.asnumpy().reshape(-1)[0].item()
        return [[name, leaves.plain_or_type(value)]]

    def _of_schedule(self, name: str, schedule: Any, step: Any) -> Any:
        """Return the value of a schedule at a step; None for a schedule of the script's own.

        The value of the script's own schedule is seen when the optimizer calls it.
        """
        own = type(schedule).__module__.startswith("mindspore.")
        if not own or step is None or is_graph_mode():
            self.deep.unrecorded(name, SCHEDULE % type(schedule).__name__)
            return None
        inside = self.cells.around
        inside.hidden += 1
        try:
            return schedule(step)
        finally:
            inside.hidden -= 1

    def _scheduled(self, schedule: Any, out: Any) -> None:
        optimizer = self._stepping
        if optimizer is None or not hasattr(out, "asnumpy"):
            return
        with guarded("a learning rate"):
            decays = schedule is getattr(optimizer, "weight_decay", None)
            name = "weight_decay" if decays else "lr"
            self._say_hyper(optimizer, self._number(name, out))

    def _say_hyper(self, optimizer: Any, values: List[List[Any]]) -> None:
        self.deep.seen(
            "hyper", self._name(optimizer), o=self.recording.index_of(optimizer), out=values
        )

    def _name(self, optimizer: Any) -> str:
        return "%s[%d]" % (type(optimizer).__name__, self.recording.index_of(optimizer))

    def hook_scalers(self) -> None:
        """Remember the loss scalers that are built."""
        from mindspore import amp

        def made(_: None, scaler: Any, *__: Any, **___: Any) -> None:
            self.scalers.append(weakref.ref(scaler))

        for kind in (amp.StaticLossScaler, amp.DynamicLossScaler):
            self.hooks.around(kind, "__init__", "a new loss scaler", after=made)
