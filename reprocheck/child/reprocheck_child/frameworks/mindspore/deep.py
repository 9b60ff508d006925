"""Levels `module` and `op` for MindSpore: what each cell was given and returned, gradients,
hyper-parameters and weights.

The hooks stand below those of level `loss`: an update is described before it is counted, as
counting may end the process. Where a graph had to stay compiled (see `open`), what can be seen from
outside is recorded: batches, losses, weights after each update.
"""

import os
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ... import deep as deeper
from ... import leaves
from ...hooking import around, guarded, replace
from ...host.facts import Facts
from .cells import Cells
from .data import Batches, Given, Seeds, hook_births, hook_loading
from .fingerprint import Fingerprints
from .open import Opening
from .values import listed

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
ALIASES = {"learning_rate": "lr"}
SKIPPED = frozenset({"params", "kwargs"})


def among(recording: Any, hooks: Dict[str, Callable[[], None]]) -> Dict[str, Callable[[], None]]:
    """The hooks of level `loss`, by name and in the order in which to run them, among those of the
    deeper levels.
    """
    watcher = recording.deep = Watcher(recording)
    if recording.recorder.level == "op":
        watcher.deep.unrecorded("operators", OPERATORS)
    return {
        "seeds": watcher.seeds.hook,
        "other seeds": watcher.seeds.hook_others,
        "parameters": watcher.hook_births,
        "batches": watcher.batches.hook,
        "loaded checkpoints": lambda: hook_loading(recording.recorder, watcher.deep),
        "each model": watcher.hook_model,
        "each cell": watcher.cells.hook,
        "compiled functions": watcher.cells.hook_executor,
        "each gradient": watcher.hook_gradients,
        "each update": watcher.hook_updates,
        "loss scalers": watcher.hook_scalers,
        **hooks,
        "opened graphs": watcher.opening.hook,
    }


class Watcher:
    """What the deep hooks share, and the path of an iteration: first forward, root, gradients,
    update.
    """

    def __init__(self, recording: Any) -> None:
        mindspore, recorder = recording.mindspore, recording.recorder
        self.recording = recording
        self.recorder = recorder
        self.deep = deeper.of(recorder)
        self.deep.foreign.append(
            os.path.join(os.path.dirname(os.path.abspath(mindspore.__file__)), "")
        )
        self.prints = Fingerprints(mindspore, self.deep)
        self.opening = Opening(mindspore, recorder, self.deep)
        self.seeds = Seeds(mindspore, recorder, self.deep)
        self.facts = Facts(self.deep, self.prints)
        self.given = Given(self.facts, self.prints)
        self.cells = Cells(recording, self.deep, self.prints, self.given, self.first_call)
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

    def hook_births(self) -> None:
        """See parameters being made."""
        hook_births(self.recording.mindspore, self.facts, self.seeds)

    def _shared_generators(self) -> None:
        self.cells.private_generators = False

    # ------------------------------------------------------------------- before the first iteration

    def first_call(self, cell: Any) -> None:
        """An outermost cell is about to be called."""
        self.begin(self._of_network(cell))
        if self.opening.graph():
            self.deep.unrecorded(type(cell).__name__, HIDDEN)

    def begin(self, parameters: Any) -> None:
        """Record the first values of new parameters, and those written to since their update; at
        the very first, states of generators.
        """
        parameters = list(parameters)
        for parameter in parameters:
            self.facts.written(id(parameter), parameter.name, parameter)
        new = [one for one in parameters if id(one) not in self._weights]
        for parameter in new:
            self._weights[id(parameter)] = parameter
            made = self.facts.birth(parameter)
            buffer = not parameter.requires_grad
            self.facts.first_value(parameter.name, parameter, made, buffer)
        self.facts.first_forward()

    def hook_model(self) -> None:
        """The weights of a Model are recorded before its first batch."""
        from mindspore.train.model import Model

        def _train(model: Any, *_: Any, **__: Any) -> None:
            self.begin(self._of_network(model.train_network))

        around(Model, "_train", "a Model's weights", before=_train)

    def _of_network(self, cell: Any) -> List[Any]:
        """The parameters of a cell without those that its optimizers keep for themselves."""
        optimizers = [
            inner
            for _, inner in cell.cells_and_names()
            if isinstance(inner, self.recording.optimizers)
        ]
        updated = {id(parameter) for optimizer in optimizers for parameter in optimizer.parameters}
        kept = {
            id(parameter) for optimizer in optimizers for parameter in optimizer.get_parameters()
        } - updated
        return [parameter for parameter in cell.get_parameters() if id(parameter) not in kept]

    # ------------------------------------------------------------------- gradients in PyNative mode

    def hook_gradients(self) -> None:
        """See both halves of `value_and_grad`, `grad`, `GradOperation`."""
        from .steps import replace_halves

        replace_halves(self._forward, self._backward)

    def _forward(self, real: Any) -> Any:
        def run_forward(function: Any, *args: Any, **named: Any) -> Any:
            self._taking += 1
            try:
                out = real(function, *args, **named)
            finally:
                self._taking -= 1
            if not self._taking:
                self._out = (function, out)
                self._rooted = True
            return out

        return run_forward

    def _backward(self, real: Any) -> Any:
        def run_backward(
            function: Any, grad: Any, weights: Any, position: Any, has_aux: bool, *args: Any
        ) -> Any:
            known, out = self._out
            outermost = not self._taking
            if outermost and known is function:
                self._out = (None, None)
                self._root(out, has_aux)
                self.cells.handles.clear()
            self._taking += 1
            try:
                gradients = real(function, grad, weights, position, has_aux, *args)
            finally:
                self._taking -= 1
            if outermost and weights is not None:
                self._gradients(weights, gradients)
            return gradients

        return run_backward

    @guarded("a root")
    def _root(self, out: Any, has_aux: bool) -> None:
        if has_aux and isinstance(out, (tuple, list)):
            out = out[0]
        self.deep.seen("root", "loss", out=self.prints.leaves(out))

    @guarded("gradients")
    def _gradients(self, weights: Any, gradients: Any) -> None:
        parameters = listed(weights)
        wanted = [one.shape for one in parameters]
        found = listed(gradients)
        # where inputs are differentiated too, the gradients of weights stand behind theirs
        candidates = [found, *map(listed, found[-1:])]
        for given in candidates:
            if [getattr(one, "shape", None) for one in given] == wanted:
                names = [parameter.name for parameter in parameters]
                self.facts.gradients("gradient", zip(names, given))
                return
        self.deep.unrecorded("gradients", OTHER_FORM)

    # -------------------------------------------------------------------------------------- updates

    def hook_updates(self) -> None:
        """See each call of an optimizer, inside other cells too."""
        self.cells.scheduled = self._scheduled
        for kind in self.recording.optimizers:
            replace(kind, "__call__", self._updating)

    def _updating(self, real: Any) -> Any:
        inside = self.cells.around

        def __call__(optimizer: Any, *args: Any, **named: Any) -> Any:  # noqa: N807
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

        return __call__

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
        for name, value in self._states(optimizer):
            is_weight = id(value) in self._weights
            self.facts.updated(name, value, index, key=id(value) if is_weight else None)
        self._updated.append(index)

    def _states(self, optimizer: Any) -> List[Tuple[str, Any]]:
        """Parameters and states as `0.weight`, `0.weight:moments`; what belongs to no parameter is
        left out.
        """
        found = [(parameter.name, parameter) for parameter in optimizer.parameters]
        names = {name for name, _ in found}
        for name, state in optimizer.parameters_and_names():
            kind, _, owner = str(state.name or name).partition(".")
            if owner in names:
                found.append((owner + ":" + kind, state))
        return found

    def stepped(self, optimizers: Sequence[Any]) -> None:
        """Updates are about to be counted: describe those that a graph has hidden."""
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
        """A step of a Model or a compiled step is about to run."""
        for optimizer in optimizers:
            self.begin(optimizer.parameters)
            self._hyper[id(optimizer)] = self.hyper(optimizer)

    def lost(self, tensors: Sequence[Any]) -> None:
        """A loss is recorded: the root of a backward pass that nobody saw."""
        if not self._rooted:
            self.facts.differentiated(tensors)

    # ----------------------------------------------------------------------------- hyper-parameters

    def hyper(self, optimizer: Any) -> List[List[Any]]:
        """The hyper-parameters of an optimizer as leaves, and the scales of loss scalers."""
        # mindspore.experimental.optim and mindspore.mint.optim have groups, `nn.Optimizer` not
        groups = getattr(optimizer, "param_groups", None)
        given = [self._of_class(optimizer)] if groups is None else groups
        step = getattr(optimizer, "global_step", None)
        found = []
        for number, values in enumerate(given):
            prefix = "param_groups[%d]." % number if number else ""
            for name, value in values.items():
                if name not in SKIPPED:
                    found += self._number(prefix + ALIASES.get(name, name), value, step)
        for scaler in filter(None, [reference() for reference in self.scalers]):
            found += self._number(type(scaler).__name__ + ".scale_value", scaler.scale_value)
        return found

    def _of_class(self, optimizer: Any) -> Dict[str, Any]:
        """Those of `nn.Optimizer`: what it was built with, and in its place what holds now."""
        given = dict(getattr(optimizer, "init_args", None) or {})
        given.update((name, getattr(optimizer, name)) for name in HYPER if hasattr(optimizer, name))
        return given

    def _number(self, name: str, value: Any, step: Any = None) -> List[List[Any]]:
        if isinstance(value, (list, tuple)) or (
            hasattr(value, "construct") and hasattr(value, "__iter__")
        ):
            found: List[List[Any]] = []
            before: List[Any] = []
            for number, item in enumerate(value):  # one for each parameter: told where it changes
                found_here = self._number("%s[%d]" % (name, number), item, step)
                values = [leaf for _, leaf in found_here]
                if values and values != before:
                    found += found_here
                    before = values
            return found
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
        """What a schedule gives at a step; None for one of the script's own: its value is seen when
        the optimizer calls it.
        """
        own = type(schedule).__module__.startswith("mindspore.")
        if not own or step is None or self.opening.graph():
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
            around(kind, "__init__", "a new loss scaler", after=made)
