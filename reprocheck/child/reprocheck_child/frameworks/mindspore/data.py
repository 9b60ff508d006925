"""Records what comes into a training from outside.

It records batches of datasets, seeds, states of generators, and loaded checkpoints.
"""

import sys
import weakref
from typing import Any, Callable, Dict, Tuple

from ...deep_levels import leaves
from ...host.facts import Facts, Places
from ...recorder.hooking import guarded, like, replace
from .pynative import everywhere
from .values import Fingerprints

ORDER = "the order of samples is drawn inside the pipeline and not known beyond the batches seen"
THREADS = (
    "Python functions of the pipeline run in its own threads: what they draw from default"
    " generators shows in its batches alone"
)
DATASETS = "mindspore.dataset"
"""The generator that pipelines take their seeds from."""
MOST_NODES = 1000
"""Datasets of a pipeline that are looked at."""
PYTHON_NODES = ("GeneratorDataset", "PaddedDataset")


class Batches:
    """The hooks of `Iterator.__next__` of all datasets."""

    def __init__(self, facts: Facts, threads: Callable[[], None]) -> None:
        self.facts = facts
        self.deep = facts.deep
        self.threads = threads
        self.places = Places()
        self.begun: weakref.WeakSet[Any] = weakref.WeakSet()
        self.under_way: weakref.WeakSet[Any] = weakref.WeakSet()
        """Iterators that have handed out the last batch that they were asked for."""

    def hook(self) -> None:
        """Set hooks on each batch as it is handed out."""
        from mindspore.dataset.engine.iterators import Iterator

        def handing_out(iterator: Any) -> Callable[[Any], None]:
            place = type(iterator).__name__
            states: Dict[str, Dict[str, str]] = {}
            with guarded("a dataset"):
                place = self._place(iterator)
                states = self._states(iterator)
                # the first batch that an iterator is asked for begins an epoch, and so does the one
                # behind its end: then the one before was asked for in vain
                if iterator not in self.under_way:
                    self.deep.recorder.epoch_began(place)
                self.under_way.discard(iterator)

            def handed_out(batch: Any) -> None:
                self.under_way.add(iterator)
                self.facts.batch(place, batch, **states)

            return handed_out

        if getattr(self.deep.boundary, "values", None) is not None:
            replace(Iterator, "__next__", self._exchanging)
        self.deep.hooks.around(Iterator, "__next__", "a batch", before=handing_out)

    def _exchanging(self, real: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Wrap `real` to keep each batch for the resumed run, or to replace it there."""
        values = self.deep.boundary.values

        def following(iterator: Any) -> Any:
            return values.next(self._place(iterator), lambda: real(iterator))

        return following

    def _states(self, iterator: Any) -> Dict[str, Dict[str, str]]:
        """Return the generator states `g` and `g2` of the first batch of an iterator.

        The pipeline takes its seed, which no draw changes, from the generator of datasets. Another
        hash of that seed stands for the state after a draw.
        """
        if iterator in self.begun:
            return {}
        self.begun.add(iterator)
        state = self.deep.generators[DATASETS]()
        digest = self.deep.hash_bytes
        return {"g": {DATASETS: digest(state)}, "g2": {DATASETS: digest(state + b" drawn")}}

    def _place(self, iterator: Any) -> str:
        """Return the name of a dataset, such as `BatchDataset[0]`: its class and a number.

        Datasets of a class are numbered in the order in which they are first used.
        """
        # the dataset as the script built it; what the iterator shows is a copy of the pipeline
        dataset = vars(iterator).get("_Iterator__ori_dataset") or iterator
        if dataset in self.places:
            return self.places.of(dataset)
        place = self.places.of(dataset)
        self.deep.unrecorded(place, ORDER)
        if _runs_python(dataset):
            self.threads()
            self.deep.unrecorded(place, THREADS)
        return place


class Given:
    """The batches of a plain loop, if no dataset returns them.

    They are the arguments of the outermost network or of a compiled step.
    """

    KEPT = 64

    def __init__(self, facts: Facts, prints: Fingerprints) -> None:
        self.facts = facts
        self.prints = prints
        # id of a tensor that a cell has returned -> a weak reference to it
        self.made: Dict[int, Any] = {}

    @guarded("a batch")
    def to(self, name: str, values: Tuple[Any, ...]) -> None:
        """Record the arguments of a training network or compiled step as a batch.

        Tensors that another cell has returned are no batch.
        """
        if self.facts.deep.loaders:
            return
        tensors = [tensor for _, tensor in self.prints.tensors(values)]
        if tensors and not any(map(self._made, tensors)):
            self.facts.batch("inputs of " + name, values)

    def returned(self, out: Any) -> None:
        """Remember the tensors that an outermost cell has returned."""
        if len(self.made) >= self.KEPT:
            self.made.clear()
        self.made.update(
            (id(tensor), weakref.ref(tensor)) for _, tensor in self.prints.tensors(out)
        )

    def _made(self, tensor: Any) -> bool:
        reference = self.made.get(id(tensor))
        return reference is not None and reference() is tensor


def _runs_python(dataset: Any) -> bool:
    """Return whether a pipeline calls Python functions of the script."""
    nodes = [dataset]
    for node in nodes:  # grows by the children of each
        if _is_python(node):
            return True
        if len(nodes) < MOST_NODES:
            nodes.extend(getattr(node, "children", None) or ())
    return False


def _is_python(node: Any) -> bool:
    """Return whether one dataset of a pipeline calls Python functions of the script."""
    if type(node).__name__ in PYTHON_NODES or getattr(node, "per_batch_map", None) is not None:
        return True
    operations = getattr(node, "operations", None)
    if not isinstance(operations, (list, tuple)):
        operations = [operations]
    others = [
        operation
        for operation in operations
        if not type(operation).__module__.startswith("mindspore")
    ]
    return any(map(callable, others))


class Seeds:
    """The watch on functions that seed a generator, and the states of MindSpore's own."""

    def __init__(self, mindspore: Any, recorder: Any, deep: Any) -> None:
        self.mindspore = mindspore
        self.recorder = recorder
        self.deep = deep
        self.drawn: Dict[str, bytes] = {}
        """States before the first draw of an initializer since a parameter was made."""

    def hook(self) -> None:
        """Add the generators of MindSpore, and watch their seeds being set."""
        # private: the global seed, and how often each operator has taken a seed from it; the public
        # `get_seed` gives the first alone
        seeds = sys.modules["mindspore.common.seed"]
        self.deep.generators["mindspore"] = lambda: repr(
            (seeds._GLOBAL_SEED, sorted(seeds._KERNEL_SEED.items(), key=repr))
        ).encode()
        config = self.mindspore.dataset.config
        self.deep.generators[DATASETS] = lambda: str(config.get_seed()).encode()
        self._watch(seeds.set_seed, "mindspore")
        self._watch(config.set_seed, DATASETS)
        self._hook_default_generator()

        def drawing() -> None:
            if not self.drawn:
                self.drawn = {"numpy": self.deep.generators["numpy"]()}

        # private: every initializer asks it for a seed, which comes from numpy's generator
        initializers = sys.modules["mindspore.common.initializer"]
        self.deep.hooks.around(initializers, "_numpy_seed", "before a draw", before=drawing)

    def hook_others(self) -> None:
        """Set hooks on `seed` of random and numpy.random, unless another adapter has done so."""
        for generator, name in (("python", "random"), ("numpy", "numpy.random")):
            module = sys.modules.get(name)
            seed = getattr(module, "seed", None)
            if seed is not None and not hasattr(seed, "__wrapped__"):
                new = self._saying(seed, generator)
                self.deep.hooks.put(module, "seed", new)
                everywhere(seed, new, self.deep.hooks.put)

    def _hook_default_generator(self) -> None:
        from mindspore.common import generator

        default = generator.default_generator

        def state() -> bytes:
            known = getattr(default._generator, "manual_seed", False)
            seed: bytes = b"" if known else default._seed.asnumpy().tobytes()
            return seed + bytes(default.get_state().asnumpy().tobytes())

        state()
        self.deep.generators["mindspore.mint"] = state
        self._watch(generator.manual_seed, "mindspore.mint")

    def _watch(self, real: Any, generator: str) -> None:
        everywhere(real, self._saying(real, generator), self.deep.hooks.put)

    def _saying(self, real: Any, generator: str) -> Any:
        def seed(*args: Any, **named: Any) -> Any:
            if not self.deep.hooks.gone:
                self._said(generator, next(iter((*args, *named.values())), None))
            return real(*args, **named)

        return like(seed, real)

    @guarded("a seed")
    def _said(self, generator: str, value: Any) -> None:
        keys: Dict[str, Any] = {"sys": True} if value is None else {}
        out = [["seed", leaves.plain_or_type(value)]]
        line = self.deep.source(1)
        self.deep.seen("seed", generator, call=False, out=out, l=line, **keys)


def hook_births(mindspore: Any, facts: Facts, seeds: Seeds) -> None:
    """Record where each parameter is made, and the state of the generator it is drawn from."""

    def made(_: None, parameter: Any, *__: Any, **___: Any) -> None:
        drawn, seeds.drawn = seeds.drawn, {}
        states = {name: facts.deep.hash_bytes(state) for name, state in drawn.items()}
        facts.born(parameter, facts.deep.source(1), states, facts.deep.seeds)

    facts.deep.hooks.around(mindspore.Parameter, "__init__", "a new parameter", after=made)


def hook_loading(deep: Any) -> None:
    """Set hooks on the loading of checkpoints into a network."""
    from mindspore.train import serialization

    real = serialization.load_param_into_net

    def load_param_into_net(net: Any, *args: Any, **named: Any) -> Any:
        answer = real(net, *args, **named)
        with guarded("a loaded checkpoint"):
            missing, unexpected = (", ".join(map(str, names))[:200] for names in answer)
            deep.seen(
                "load",
                type(net).__name__,
                **{"in": [["missing", {"v": missing}], ["unexpected", {"v": unexpected}]]},
            )
        return answer

    everywhere(real, like(load_param_into_net, real), deep.hooks.put)
