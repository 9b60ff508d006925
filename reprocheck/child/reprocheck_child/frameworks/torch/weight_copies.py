"""Finds copies of weights that plain objects of a script hold, such as averages.

It also finds the counters of these objects. No `state_dict` of a module has them.

The copies are written where a training goes on and again one iteration later: only then can an
average be told from a value that each step computes anew, such as a copy of the gradients.
"""

from collections import OrderedDict, defaultdict
from itertools import chain
from typing import Any, DefaultDict, Dict, FrozenSet, Iterator, List, Set, Tuple

from ...deep_levels import scope
from ...deep_levels.leaves import plain
from ...recorder.hooking import guarded

CONTAINERS = (dict, OrderedDict, list, tuple)
"""Plain ones alone: a class derived from them may run code of the script."""
Named = Tuple[str, Any]
Shapes = Tuple[Tuple[int, ...], ...]


class OwnWeights:
    """The writer of `held` facts about copies of weights: one for each tensor and each counter."""

    def __init__(self, torch: Any, deep: Any, held: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.held = held
        self.sets: FrozenSet[Shapes] = frozenset()
        self.found: List[Named] = []
        """The objects that hold such copies, from a boundary to the next iteration."""

    @guarded("looking at weights that objects of the script hold")
    def write(self) -> None:
        """Write all copies of weights and counters that are found."""
        with self.held.aside(), self.torch.no_grad():
            self.find()
            self._write()

    @guarded("looking again at weights that objects of the script hold")
    def write_next(self) -> None:
        """Write the present values of the objects found by `write`."""
        with self.held.aside(), self.torch.no_grad():
            self._write()
        self.found = []

    def find(self) -> None:
        """Find the script's variables whose objects hold copies of weights."""
        self.found = list(self._holders())

    def copies(self) -> Iterator[Named]:
        """Yield (name, tensor) of the copies of weights in the objects found."""
        for name, thing in self.found:
            for part, value in scope.attributes(thing):
                if type(value) in CONTAINERS:
                    yield from (
                        (name + part + place, tensor) for place, tensor in self._copies(value)
                    )

    def counts(self) -> Iterator[Tuple[str, Any, str]]:
        """Yield (name, object, attribute) of the counters in the objects found."""
        for name, thing in self.found:
            for part, value in scope.attributes(thing):
                if scope.is_count(value):
                    yield name + part, thing, part[1:]

    def _write(self) -> None:
        for name, tensor in self.copies():
            leaf = self.held.prints.later(tensor, sketched=False)
            self._write_fact(name, leaf, "own weight")
        for name, thing, attribute in self.counts():
            self._write_fact(name, plain(vars(thing)[attribute]), "own number")

    def _write_fact(self, name: str, leaf: Any, kind: str) -> None:
        self.deep.seen("held", name, call=False, out=[["", leaf]], k=kind)

    def _holders(self) -> Iterator[Named]:
        """Yield (name, object) of the script's objects that hold copies of weights.

        An object that also holds an optimizer is left out: it is a trainer, which has other
        counters.
        """
        things = self.deep.boundary.things
        tensors = [pair for pair in things if type(pair[1]) in CONTAINERS and self._begins(pair[1])]
        if not tensors:
            return
        self.sets = self._sets()
        copies = {id(container) for _, container in tensors if self._copies(container)}
        if not copies:
            return
        for name, thing in things:
            values = [value for _, value in scope.attributes(thing)]
            if copies.isdisjoint(map(id, values)):
                continue
            if not any(isinstance(pair, self.torch.optim.Optimizer) for pair in values):
                yield name, thing

    def _begins(self, container: Any) -> bool:
        """Return whether the first element of a container is a tensor.

        Only the first is looked at, because a script may have thousands of containers.
        """
        values = container.values() if isinstance(container, dict) else container
        return type(next(iter(values), None)) is self.torch.Tensor

    def _sets(self) -> FrozenSet[Shapes]:
        """Return the shapes of the weights of each model, to compare containers with.

        There is one set for all weights, for the trained ones, and for all with buffers. A model
        with one weight is left out, because too many tensors have the same shape.
        """
        names = self.held.names
        owners = self._owners()
        models: DefaultDict[int, _Model] = defaultdict(_Model)
        for _, tensor, buffer in self.held.weights():
            top = names.top(owners[id(tensor)])
            models[id(top)].add(tensor, buffer)
        sets = chain.from_iterable(model.sets() for model in models.values())
        return frozenset(shapes for shapes in sets if len(shapes) > 1)

    def _owners(self) -> Dict[int, Any]:
        """Return the module of each weight and buffer with a name, by the tensor's `id`."""
        modules = {}
        for owner, attribute, _ in list(self.held.names.weights.values()):
            module = owner()
            tensors = {**getattr(module, "_parameters", {}), **getattr(module, "_buffers", {})}
            modules[id(tensors.get(attribute))] = module
        return modules

    def _copies(self, container: Any) -> List[Named]:
        """Return (name, tensor) of a container whose shapes are those of a model's weights.

        [] for any other container, and for one that holds the model's own weights.
        """
        parts = scope.parts(dict(container) if type(container) is OrderedDict else container)
        tensors = [value for _, value in parts]
        if len(tensors) < 2 or not all(type(tensor) is self.torch.Tensor for tensor in tensors):
            return []
        if _shapes(tensors) not in self.sets:
            return []
        weights = self.held.names.weights
        if any(id(tensor) in weights or tensor.grad_fn is not None for tensor in tensors):
            return []
        return [(part, tensor) for part, tensor in parts if tensor.is_floating_point()]


class _Model:
    """The tensors of one model."""

    def __init__(self) -> None:
        self.all: List[Any] = []
        self.weights: List[Any] = []
        self.trained: List[Any] = []

    def add(self, tensor: Any, buffer: bool) -> None:
        """Add a weight or a buffer of the model."""
        self.all.append(tensor)
        if buffer:
            return
        self.weights.append(tensor)
        if tensor.requires_grad:
            self.trained.append(tensor)

    def sets(self) -> Set[Shapes]:
        """Return the shapes of all weights, of the trained ones, and of all with buffers."""
        return {_shapes(self.all), _shapes(self.weights), _shapes(self.trained)}


def _shapes(tensors: List[Any]) -> Shapes:
    """Return the sorted shapes of the floating-point tensors."""
    return tuple(sorted(tuple(tensor.shape) for tensor in tensors if tensor.is_floating_point()))
