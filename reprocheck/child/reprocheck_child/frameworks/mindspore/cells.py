"""Records the inputs and outputs of each cell, and the gradients of its outputs.

A cell has the path by which its parent knows it.
"""

import sys
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from ...deep_levels.leaves import below
from ...recorder.hooking import guarded, replace

LIBRARY_WRAPPERS = (
    "mindspore.nn.wrap",
    "mindspore.train",
    "mindspore.parallel",
    "mindspore.amp",
    "mindspore.boost",
    "mindspore.rewrite",
)

WRAPPED = ("network", "_backbone", "backbone")
"""Under which names they hold the network."""

COMPILED_INPUT = "the gradient of its output is not recorded: a compiled function takes it"


class Around(threading.local):
    """The cell calls that are open in this thread.

    `cells` are recorded; the cells in `hidden` calls are not.
    """

    cells = 0
    hidden = 0


class Paths:
    """The path of each cell below the user's outermost cell: that of its parameters' names.

    Library cells that wrap a network for training (`TrainOneStepCell`, `WithLossCell`) give it no
    name. The first network with parameters has the path ""; other outermost cells (losses, a second
    network) are named by their class.
    """

    def __init__(self, optimizers: Tuple[type, ...]) -> None:
        self.optimizers = optimizers
        self.cells: weakref.WeakSet[Any] = weakref.WeakSet()
        self.known: weakref.WeakKeyDictionary[Any, Optional[str]] = weakref.WeakKeyDictionary()
        self._labels: Dict[str, int] = {}

    def of(self, cell: Any) -> Optional[str]:
        """Return the path of a cell; None for a cell that is not recorded.

        Not recorded are train cells, optimizers and wrappers of the library.
        """
        if cell not in self.known:
            top = self._top(cell)
            self._name(top, None)
            if cell not in self.known:  # a helper of a wrapper
                self.known[cell] = None
        return self.known[cell]

    def _top(self, cell: Any) -> Any:
        """Return the outermost cell that holds `cell`."""
        parents = {id(child): parent for parent in self.cells for child in parent._cells.values()}
        outwards = {id(cell): cell}
        while id(cell) in parents:
            cell = parents[id(cell)]
            if id(cell) in outwards:  # cells that hold each other
                break
            outwards[id(cell)] = cell
        return list(outwards.values())[-1]

    def _name(self, cell: Any, path: Optional[str]) -> bool:
        """Name `cell` and the cells inside; return whether an optimizer is among them.

        `path` is None if no cell outside has a name.
        """
        if isinstance(cell, self.optimizers):
            self.known[cell] = None
            return True
        wrapper = type(cell).__module__.startswith(LIBRARY_WRAPPERS)
        if path is None and not wrapper:
            label = type(cell).__name__
            if "" not in self._labels and has_parameters(cell):
                label = ""
            number = self._labels[label] = self._labels.get(label, 0) + 1
            path = label if number == 1 else "%s[%d]" % (label, number - 1)
        if cell not in self.known:
            self.known[cell] = None if wrapper else path
        trains = False
        for name, child in cell._cells.items():
            reduces = wrapper and name == "grad_reducer"
            if child is not None and not reduces:
                inner = path
                if not wrapper or name not in WRAPPED:
                    inner = None if wrapper else name
                    if path is not None:
                        inner = below(path, name)
                trains = self._name(child, inner) or trains
        if trains:
            self.known[cell] = None
        return trains


def has_parameters(cell: Any) -> bool:
    """Return whether a cell, or a cell inside it, has weights."""
    return next(iter(cell.get_parameters()), None) is not None


class Cells:
    """The hooks of `nn.Cell.__call__`."""

    def __init__(
        self, recording: Any, deep: Any, prints: Any, given: Any, first: Callable[[Any], None]
    ) -> None:
        self.recording = recording
        self.deep = deep
        self.prints = prints
        self.given = given
        self.first = first
        self.around = Around()
        self.paths = Paths(recording.optimizers)
        self.schedules: Tuple[type, ...] = ()
        self.dropout: Any = None
        self.scheduled: Callable[[Any, Any], None] = lambda cell, out: None
        self.private_generators = True
        # id of an output -> (weak reference, path, handle of the hook on it)
        self.handles: Dict[int, List[Tuple[Any, str, Any]]] = {}

    def hook(self) -> None:
        """Set hooks on the building and the calls of cells."""
        from mindspore import nn
        from mindspore.nn.learning_rate_schedule import LearningRateSchedule

        self.schedules = (LearningRateSchedule,)
        self.dropout = nn.Dropout
        hooks = self.deep.hooks
        hooks.around(nn.Cell, "__init__", "a new cell", after=self._built)
        replace(nn.Cell, "__call__", self._calling, put=hooks.put)

    def _built(self, _: None, cell: Any, *__: Any, **___: Any) -> None:
        self.paths.cells.add(cell)

    def _calling(self, real: Any) -> Any:
        inside = self.around

        def __call__(cell: Any, *args: Any, **named: Any) -> Any:  # noqa: N807
            if inside.hidden:
                out = real(cell, *args, **named)
                if isinstance(cell, self.schedules):
                    self.scheduled(cell, out)
                return out
            path = self._before(cell)
            if path is None:
                return real(cell, *args, **named)
            states: Any = None
            with guarded("before a cell"):
                inputs = self.prints.arguments(args, named)
                states = self.deep.states()
            if states is None:
                return real(cell, *args, **named)
            if not inside.cells and has_parameters(cell):
                self.given.to(type(cell).__name__, (*args, *named.values()))
            inside.cells += 1
            try:
                out = real(cell, *args, **named)
            finally:
                inside.cells -= 1
            self._after(cell, path, inputs, out, states)
            return out

        return __call__

    @guarded("the path of a cell")
    def _before(self, cell: Any) -> Optional[str]:
        """Return the path of a cell that is about to be called; None if it is not recorded."""
        hooks = self.deep.hooks
        if hooks.gone:
            return None
        path = self.paths.of(cell)
        if path is not None and not self.around.cells:
            self.first(cell)
        return None if hooks.gone else path

    @guarded("after a cell")
    def _after(self, cell: Any, path: str, inputs: Any, out: Any, states: Dict[str, bytes]) -> None:
        if self.deep.hooks.gone:
            return
        moved: Dict[str, Any] = self.deep.moved(states) if self.private_generators else {}
        if type(cell) is self.dropout and cell.training and getattr(cell, "p", None) is not None:
            # the one cell that draws and keeps all that it was made with
            moved["x"] = "p=%r" % cell.p
        self.deep.seen(
            "call",
            path,
            k=type(cell).__name__,
            out=self.prints.leaves(out),
            **{"in": inputs},
            **moved,
        )
        self._watch_gradient(path, out)
        if not self.around.cells:
            self.given.returned(out)

    def _watch_gradient(self, path: str, out: Any) -> None:
        """Record the gradient of each output when the backward pass reaches it.

        This is done only while a gradient is being computed.
        """
        # private; MindSpore tells nobody else whether a gradient is being taken. Which module it
        # belongs to differs between versions, and the former one warns where it is imported
        if not sys.modules["mindspore.nn.cell"]._pynative_executor.requires_grad():
            return
        for leaf, tensor in self.prints.tensors(out):
            if "float" in str(tensor.dtype).lower():
                handle = tensor.register_hook(self._gradient_hook(path, leaf or "0"))
                self.handles.setdefault(id(tensor), []).append((weakref.ref(tensor), path, handle))

    def _gradient_hook(self, path: str, leaf: str) -> Callable[[Any], Any]:
        def gradient_of_output(gradient: Any) -> Any:
            with guarded("the gradient of an output"):
                if gradient is None:  # nothing was made of this output
                    return gradient
                self.deep.seen("outgrad", path, out=[[leaf, self.prints.of(gradient)]])
            return gradient

        return gradient_of_output

    def hook_executor(self) -> None:
        """Remove hooks from tensors given to a compiled function: it would compile them."""
        from .steps import _executor

        def executing(_: Any, *args: Any, **named: Any) -> None:
            if self.handles:
                for _, tensor in self.prints.tensors((args, named)):
                    for reference, path, handle in self.handles.pop(id(tensor), ()):
                        if reference() is tensor:
                            handle.remove()
                            self.deep.unrecorded(path, COMPILED_INPUT)

        self.deep.hooks.around(
            _executor(), "__call__", "before a compiled function", before=executing
        )

    def unwatch_all(self) -> None:
        """Remove the recorder's hooks from all tensors.

        Their backward pass is over, or recording has stopped.
        """
        handles, self.handles = self.handles, {}
        for several in handles.values():
            for _, _, handle in several:
                handle.remove()
