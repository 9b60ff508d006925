"""Levels `module` and `op` for Keras 3.

They record weights, seed generators, batches, layers where they run eagerly, gradients and updates.

On TensorFlow a compiled step hands out what lies in memory anyway, see
`frameworks.tensorflow.deep`. What XLA or JAX compiles is looked at from outside, between batches.
On PyTorch layers, batches and gradients are seen by the adapter of PyTorch.
"""

import sys
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ...deep_levels.leaves import below
from ...host.fingerprint import flat
from ...host.seeds import Seeds
from ...host.state_io import Batches
from ...host.tensors import array, concrete, is_tensor
from ...host.variables import of
from ...recorder.hooking import around, guarded, replace
from ...recorder.lines import of_line
from .creation_site import Births
from .layers import Layers
from .training_state import Held
from .updates import Updates

JAX = (
    "its steps are compiled: what layers take and return and the gradients are hidden; batches,"
    " draws, losses, updates are not"
)


class Private:
    """A seed generator, and the layer that draws from it."""

    def __init__(self, generator: Any, place: str, kind: str, line: str) -> None:
        self.reference = weakref.ref(generator)
        self.place = place
        self.made = of_line(line)
        self.kind = kind
        self.last = b""

    def handle_of(self) -> Any:
        """Return the backend's variable that holds the state of the seed generator."""
        generator = self.reference()
        return None if generator is None else generator.state._value


class Watcher:
    """The deeper levels' side of the adapter of Keras.

    Nothing here raises.
    """

    def __init__(self, keras: Any, recorder: Any, training: Callable[[], bool]) -> None:
        self.keras = keras
        self.recorder = recorder
        self.training = training
        self.facts = of(recorder)
        self.facts.foreign("keras")
        self.deep = self.facts.deep
        self.backend = keras.backend.backend()
        self.graphs: Any = None  # what watches TensorFlow, on that backend
        self.private: Dict[str, Private] = {}
        self.known: Dict[str, bytes] = {}
        if self.backend == "tensorflow":
            from ..tensorflow import losses

            self.graphs = losses.of(sys.modules["tensorflow"], recorder).deep
            self.graphs.training = training
            self.private, self.known = self.graphs.private, self.graphs.known
        self.seeds = Seeds(self.deep) if self.graphs is None else self.graphs.seeds
        self.births = Births(self.facts, self.seeds)
        self.layers = Layers(self)
        self.updates = Updates(self)
        self.held = Held(self)
        self.batches: Any = None  # keeps or replaces what the trainer of JAX is given
        self._watched: Dict[int, Any] = {}  # id of a seed generator -> a reference to it
        self._drawing: List[Callable[[], None]] = []

    def hooks(self) -> Dict[str, Callable[[], None]]:
        """Return the hooks by name, in the order in which to run them."""
        hooks = {
            "default seeds": self.births.hook_default_seed,
            "initializers": self.births.hook_initializers,
            "seed generators": self.births.hook_generators,
            "variables": self.births.hook_variables,
        }
        if self.graphs is None:
            hooks["seeds"] = self.seeds.hook
        if self.backend != "torch":
            hooks.update({"layers": self.layers.hook, "losses": self.layers.hook_losses})
        if self.graphs is not None:
            hooks["order"] = self.graphs.order.hook
        if self.deep.boundary is not None:
            hooks["boundary"] = self.held.watch
        if self.backend == "jax":
            hooks["batches"] = self.hook_batches
        if self.backend == "torch":
            hooks.update({"weights": self.hook_fit, "building": self.layers.hook_building})
        return hooks

    def hook_fit(self) -> None:
        """Name weights as Keras does, before the adapter of PyTorch names them otherwise."""
        kind = sys.modules["keras.src.backend.torch.trainer"].TorchTrainer

        def fit(model: Any, *_: Any, **__: Any) -> None:
            if model.built:
                self.facts.root(model.name)
                self.facts.begin(model.weights)

        around(kind, "fit", "the weights of keras", before=fit)

    def hook_batches(self) -> None:
        """Set hooks on the batches that Keras's trainer on JAX is given."""
        # private: where `fit` takes its batches from on JAX; on an accelerator it reads one ahead
        iterators = sys.modules["keras.src.backend.jax.trainer"].JAXEpochIterator
        if self.held.values is not None:
            self.batches = Batches(self.held.values)
        replace(iterators, "_get_iterator", lambda real: lambda held: self._batches(real(held)))

    def _batches(self, iterator: Any) -> Iterator[Any]:
        for batch in iterator:
            if self.training():
                batch = self._instead(batch)
                self._batch("fit", batch)
            yield batch

    def _instead(self, batch: Any) -> Any:
        """Return the batch; kept for the resumed run, or replaced in the resumed run."""
        if self.batches is None:
            return batch
        tree = self.keras.tree
        flat = tree.flatten(batch)
        tensors = [leaf for leaf in flat if leaf is not None]
        others = iter(self.batches.instead(tensors) or tensors)
        taken = [leaf if leaf is None else next(others) for leaf in flat]
        return tree.pack_sequence_as(batch, taken)

    @guarded("a batch of keras")
    def _batch(self, place: str, batch: Any) -> None:
        self.facts.batch(place, batch)

    def epoch(self) -> None:
        """Note that an epoch of `fit` begins."""
        if self.graphs is not None:
            self.graphs.order.new = True

    @guarded("a batch of keras begins")
    def begin(self, model: Any, given: Optional[Tuple[Any, ...]] = None) -> None:
        """Begin a batch of a trainer; `given` is the batch passed to `train_on_batch`."""
        self.register(model, self.facts.root(model.name))
        self.facts.begin(model.weights)
        self.held.optimizer = model.optimizer
        self.deep.goes_on("keras")
        if given is not None:
            self._batch("train_on_batch", [part for part in given if part is not None])
        outside = self.backend == "jax" or (
            self.backend == "tensorflow" and not model.run_eagerly and bool(model.jit_compile)
        )
        if outside:
            self.deep.unrecorded(type(model).__name__, JAX)
            # what draws is known when the program has returned: its place is held before the
            # loss
            inside = {
                id(generator)
                for layer in model._flatten_layers()
                for generator in getattr(layer, "_seed_generators", ())
            }
            for name, private in self.private.items():
                if id(private.reference()) in inside:
                    self._draw_follows(name, private, self.state(private))
        self.updates.begin(model.optimizer, outside)

    @guarded("a batch of keras ends")
    def end(self, model: Any, index: int) -> None:
        """End a batch of a trainer, before the batch is counted as an iteration."""
        if self.backend == "jax":
            # between batches the trainer holds weights outside of the model
            model.jax_state_sync()
        if self.graphs is not None:
            self.graphs.ended()
        for draw in self._drawing:
            draw()
        self._drawing.clear()
        self.updates.end(model.optimizer, index)

    def register(self, layer: Any, path: str = "") -> None:
        """Watch the seed generators of a layer and of the layers in it."""
        todo = [(layer, path)]
        for layer_inside, place in todo:
            for generator in getattr(layer_inside, "_seed_generators", ()):
                if id(generator) not in self._watched:
                    self._watched[id(generator)] = generator
                    self._register(generator, place, type(layer_inside).__name__)
            if len(todo) < 10_000:
                todo += [
                    (inner, below(place, inner.name))
                    for inner in getattr(layer_inside, "_layers", ())
                ]

    def _register(self, generator: Any, place: str, kind: str) -> None:
        base = name = "keras:" + (place or kind)
        number = 1
        while name in self.private:
            number += 1
            name = "%s (%d)" % (base, number)
        seed, line = self.births.of_generator(generator)
        private = self.private[name] = Private(generator, place, kind, line)
        self.deep.generators[name] = lambda: self.state(private)
        self.known[name] = self.state(private)
        if seed is not None:
            out = [["seed", seed[0]]]
            self.deep.seen("seed", name, call=False, out=out, **of_line(seed[1]))

    def state(self, private: Private) -> bytes:
        """Return the state of a seed generator.

        While a compiled program runs, the state cannot be read, and the last known state is
        returned.
        """
        try:
            value = private.handle_of()
            if concrete(value) and value is not None:
                with self._outside_of_graphs():
                    private.last = bytes(array(value).tobytes())
        except Exception:  # donated to a program, or of a graph
            pass
        return private.last

    def _outside_of_graphs(self) -> Any:
        if self.backend == "tensorflow":
            return sys.modules["tensorflow"].init_scope()
        from contextlib import nullcontext

        return nullcontext()

    def _draw_follows(self, name: str, private: Private, before: bytes) -> None:
        draws: List[Dict[str, Any]] = []

        def ready() -> None:
            now, digest = self.state(private), self.deep.hash_bytes
            self.known[name] = now
            moved = {"g": {name: digest(before)}, "g2": {name: digest(now)}}
            draws.append({} if now == before else moved)

        def read(wait: bool) -> Optional[Dict[str, Any]]:
            if not draws and not wait:
                return None
            moved = next(iter(draws), {})
            return {"k": private.kind, **private.made, **moved}

        self._drawing.append(ready)
        self.deep.seen("call", private.place, read=read)

    @staticmethod
    def concrete(values: Any) -> bool:
        """Return whether all tensors in a nested value hold values, and are not symbolic."""
        return all(concrete(leaf) for leaf in flat(values) if is_tensor(leaf))
