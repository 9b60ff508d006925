"""Records the levels `module` and `op` for TensorFlow.

It records batches of `tf.data`, first values of variables, what tapes differentiate, seeds, draws.

Eager values are read where they are made. In a function that is being traced `tf.py_function` hands
out what lies there in memory anyway (batches, losses, variables), so that the graph computes what
it computes unrecorded; gradients on their way to an optimizer of Keras are handed out too. In
programs compiled by XLA nothing is added: weights are read when the outermost function returns.
"""

import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ...host.facts import Places
from ...host.seeds import Seeds
from ...host.state_io import Batches
from ...host.tensors import concrete
from ...host.variables import VariableFacts, of
from ...recorder.hooking import around, guarded, replace
from ...recorder.lines import of_line
from .generators import Generators, Global
from .order import Order

OPERATORS = (
    "operators are not recorded one by one for TensorFlow and Keras: layers are, where they run"
    " eagerly"
)
HIDDEN = (
    "runs as a compiled function: what its layers take and return is hidden; batches, draws, losses"
    " and weights are not"
)
BY_HAND = (
    "gradients inside a compiled function are recorded only where an optimizer of Keras takes them"
)
XLA = (
    "compiled by XLA: gradients inside are hidden, as whatever is handed out could change how the"
    " program rounds"
)

Draw = Tuple[str, str, str]
"""Place and class of what draws inside a function that was traced, and the line of the script."""


class Watcher:
    """The deeper levels' side of the hooks of level `loss`.

    Nothing here raises, but what the hooks are installed by.
    """

    def __init__(self, tensorflow: Any, recorder: Any, in_xla: Callable[[], bool]) -> None:
        self.tensorflow = tensorflow
        self.recorder = recorder
        self.in_xla = in_xla
        self.facts: VariableFacts = of(recorder)
        self.facts.foreign("tensorflow")
        self.deep = self.facts.deep
        self.seeds = Seeds(self.deep)
        self.generator = Global(tensorflow, self.deep)
        self.generator.traced = self._traced
        self.where: Callable[[], Optional[Tuple[str, str]]] = lambda: None
        """The layer that is called, while it is; set by the adapter of Keras."""
        self.training: Callable[[], bool] = lambda: False
        """Whether a batch of a trainer is under way; set by the adapter of Keras."""
        self.order = Order(tensorflow, self.deep)
        values = getattr(self.deep.boundary, "values", None)
        self.batches: Any = None if values is None else Batches(values)
        """Keeps the batches of `fit`, or hands out others in their place, where that is asked for.
        """
        self.private: Dict[str, Any] = {}
        """Name of a generator -> its state, place and class of its layer; filled by the adapter of
        Keras, and with the `tf.random.Generator` objects of the script.
        """
        self.known: Dict[str, bytes] = {}
        self._draws: List[Draw] = []
        self._places = Places()
        self._by_hand: Dict[int, str] = {}  # id of a weight -> hash when it was differentiated last
        # states of the generators when a variable was made last
        self._at_birth: Dict[str, bytes] = {}
        # a function was traced that takes gradients, and gives them to no optimizer
        self._untaken = False
        self._rooted = False  # a compiled function has handed out a loss since the last update
        # what a compiled function has handed out ahead of its loss
        self._held: List[Callable[[], None]] = []
        self._lock = threading.RLock()
        if recorder.level == "op":
            self.deep.unrecorded("operators", OPERATORS)

    def hooks(self) -> Dict[str, Callable[[], None]]:
        """Return the hooks by name, in the order in which to run them."""
        return {
            "seeds": self.seeds.hook,
            "generator": lambda: self.generator.hook(self.seeds),
            "generators": Generators(self).hook,
            "variables": self.hook_variables,
            "batches": self.hook_batches,
        }

    def hook_variables(self) -> None:
        """Set hooks on the making of variables."""
        # `tf.Variable(...)` makes an object of this class, which is private; so does Keras
        from tensorflow.python.ops import resource_variable_ops

        kind = resource_variable_ops.ResourceVariable
        self._at_birth = self.deep.states()

        def made(_: None, variable: Any, *args: Any, **named: Any) -> None:
            self.facts.born(variable, self.deep.source(1), self._drawn_from(), self.deep.seeds)

        around(kind, "__init__", "a new variable", after=made)

    def _drawn_from(self) -> Dict[str, str]:
        """Return the generators that a new variable's values may be drawn from.

        They are the generators that moved since the variable before, else all.
        """
        taken = self.generator.taken()
        states = {name: state for name, state in self.deep.states().items() if ":" not in name}
        moved = {name: state for name, state in states.items() if self._at_birth.get(name) != state}
        self._at_birth = states
        return taken or {
            name: self.deep.hash_bytes(state) for name, state in (moved or states).items()
        }

    def begin(self, variables: Sequence[Any]) -> None:
        """Record the first values of variables that are differentiated or updated.

        In a function that is traced, they are recorded before the function runs.
        """
        frame = self.deep.frame(1)
        try:
            with self.tensorflow.init_scope():
                self.facts.begin(
                    [variable for variable in variables if hasattr(variable, "assign")], frame
                )
        except Exception as error:
            self.deep.unrecorded(
                "initial weights", "they could not be read before the first update: %r" % error
            )

    def hook_batches(self) -> None:
        """Set hooks on the batches that iterators of `tf.data` return."""
        # private: `__next__`, `get_next` and loops that AutoGraph has rewritten all lead through
        # this method, and `tf.data` calls nobody with a batch
        from tensorflow.python.data.ops import iterator_ops

        def handing_out(real: Any) -> Any:
            def _next_internal(iterator: Any) -> Any:
                batch = real(iterator)
                with guarded("a batch"):
                    place = self._place(iterator)
                    if place == "fit" and self.batches is not None and not self.in_xla():
                        batch = self._instead(batch)
                    return self._batch(place, batch)
                return batch

            return _next_internal

        replace(iterator_ops.OwnedIterator, "_next_internal", handing_out)

    def _place(self, iterator: Any) -> str:
        """Return `fit` inside a trainer; else the class of the dataset and a number."""
        if self.training():
            return "fit"
        dataset = getattr(iterator, "_dataset", None)
        if dataset is None:
            return "tf.data"
        return self._places.of(dataset)

    def _instead(self, batch: Any) -> Any:
        """Return a batch of tensors; kept for the resumed run, or replaced in the resumed run.

        In a function that is being traced, this happens at each execution.
        """
        tf, batches = self.tensorflow, self.batches
        flat = tf.nest.flatten(batch)
        tensors = [leaf for leaf in flat if isinstance(leaf, tf.Tensor)]

        def chosen(*given: Any) -> Any:
            return batches.instead(given) or given

        if tf.executing_eagerly():
            replacements = list(map(tf.convert_to_tensor, chosen(*tensors)))
        else:
            replacements = tf.py_function(chosen, tensors, [leaf.dtype for leaf in tensors])
        for leaf, before in zip(replacements, tensors):
            leaf.set_shape(before.shape)
        others = iter(replacements)
        taken = [next(others) if isinstance(leaf, tf.Tensor) else leaf for leaf in flat]
        return tf.nest.pack_sequence_as(batch, taken)

    def _batch(self, place: str, batch: Any) -> Any:
        """Record a batch; in a function that is being traced, before it is used."""
        tf = self.tensorflow
        if tf.executing_eagerly():
            self._handed_out(place, batch)
            return batch
        flat = tf.nest.flatten(batch)
        there = [number for number, leaf in enumerate(flat) if leaf is not None]
        if (
            self.in_xla()
            or not there
            or not all(isinstance(flat[number], tf.Tensor) for number in there)
        ):
            return batch

        def arrived(*values: Any) -> None:
            values_by_place = dict(zip(there, values))
            self._handed_out(
                place,
                tf.nest.pack_sequence_as(
                    batch, [values_by_place.get(number) for number in range(len(flat))]
                ),
            )

        with tf.control_dependencies([self._hand_out(arrived, [flat[number] for number in there])]):
            return tf.nest.map_structure(
                lambda leaf: None if leaf is None else tf.identity(leaf), batch
            )

    def _handed_out(self, place: str, batch: Any) -> None:
        if place == "fit":
            self.order.before_batch()
        self.facts.batch(place, batch)

    @guarded("the inputs of a function")
    def called(self, function: Any, args: Any, named: Any) -> None:
        """Record the arguments of an outermost `tf.function` of the script.

        They are recorded as a batch if no loader made one.
        """
        python: Any = getattr(function, "python_function", None)
        code = getattr(python, "__code__", None)
        if code is None or not self.tensorflow.executing_eagerly():
            return
        if not self.deep._user_file(code.co_filename):
            return
        self.deep.goes_on("tensorflow")
        if self.deep.loaders:
            return
        given = [
            argument
            for argument in (*args, *named.values())
            if concrete(argument) and hasattr(argument, "shape") and not hasattr(argument, "assign")
        ]
        if given:
            self.facts.batch("inputs of " + python.__name__, given)

    def _traced(self) -> None:
        """Note that an operator which draws from the global generator is being traced."""
        graph = str(getattr(self.tensorflow.compat.v1.get_default_graph(), "name", ""))
        where = self.where() or (None if graph.startswith("Dataset") else (graph, "tf.function"))
        if where is not None and all(draw[:2] != where for draw in self._draws):
            self._draws.append((*where, self.deep.source(2)))

    def take_draws(self) -> List[Draw]:
        """Return the draws that were traced since the last loss, and forget them."""
        draws, self._draws = self._draws, []
        return draws

    def states(self) -> Tuple[List[str], List[Any]]:
        """Return (names, states) of private generators, for a graph to hand out."""
        handles = [(name, state.handle_of()) for name, state in list(self.private.items())]
        states = [(name, state) for name, state in handles if state is not None]
        return [name for name, _ in states], [
            self.tensorflow.convert_to_tensor(state) for _, state in states
        ]

    def drew(self, draws: Sequence[Draw], names: Sequence[str], states: Sequence[Any]) -> None:
        """Record the draws of a traced function that has run.

        They are the draws from the global generator, and from private generators whose state has
        changed.
        """
        for place, kind, line in draws:
            before = self.generator.state()
            self.generator.draws += 1
            self._call(
                place,
                kind,
                "tensorflow",
                before,
                self.generator.state(),
                **of_line(line),
            )
        for name, state in zip(names, states):
            now, known = state.tobytes(), self.known.get(name)
            self.known[name] = now
            if known is not None and known != now:
                self.moved(name, known, now, self.private[name].made)

    def moved(self, name: str, before: bytes, after: bytes, line: Dict[str, Any]) -> None:
        """Record that something drew from the private generator `name`."""
        private = self.private[name]
        self.known[name] = after
        self._call(private.place, private.kind, name, before, after, **line)

    def _call(
        self, place: str, kind: str, generator: str, before: bytes, after: bytes, **made: Any
    ) -> None:
        digest = self.deep.hash_bytes
        self.deep.seen(
            "call",
            place,
            k=kind,
            g={generator: digest(before)},
            g2={generator: digest(after)},
            **made,
        )

    @guarded("before gradients")
    def before_gradient(self, sources: Sequence[Any], outermost: bool) -> None:
        """Record `sources` before a tape is asked for their gradients."""
        if self.tensorflow.executing_eagerly():
            if outermost:
                # weights that changed since they were differentiated, without an optimizer that was
                # seen to do it
                for weight in sources:
                    known = self._by_hand.get(id(weight))
                    if known is not None and (now := self.facts.prints.of(weight))["h"] != known:
                        self.deep.seen("update", self.facts.name(weight), out=[["", now]])
                self._by_hand.clear()
        elif not self.in_xla():
            self.deep.unrecorded("tf.function", HIDDEN)
        self.begin(sources)
        if outermost and self.tensorflow.executing_eagerly():
            self.deep.goes_on("tensorflow")

    def differentiated(self, losses: Sequence[Any]) -> None:
        """Record the values of losses that have arrived."""
        self.facts.differentiated(losses)

    @guarded("gradients")
    def after_gradient(
        self, sources: Sequence[Any], gradients: Sequence[Any], outermost: bool
    ) -> None:
        """Record the gradients that a tape has given."""
        if self.tensorflow.executing_eagerly():
            weights = [source for source in sources if hasattr(source, "assign")]
            if len(weights) == len(sources) == len(gradients) and outermost:
                self.facts.gradients_of("gradient", weights, gradients)
                self._by_hand = {
                    id(weight): self.facts.prints.of(weight)["h"] for weight in weights
                }
        elif self.in_xla():
            self.deep.unrecorded("tf.function", XLA)
        else:
            self._untaken = True

    def optimized(self) -> None:
        """Note that a Keras optimizer is applied, which records the gradients itself."""
        self._by_hand.clear()
        self._untaken = False

    def stream(self, arrived: Callable[..., None], values: Sequence[Any]) -> None:
        """Make each execution of the traced function report values, after its loss.

        The values come as numpy arrays.
        """
        self._hand_out(
            lambda *found: self.behind_loss(lambda: arrived(*[tensor.numpy() for tensor in found])),
            values,
        )

    def _hand_out(self, arrived: Callable[..., None], values: Sequence[Any]) -> Any:
        each = guarded("values of a compiled function")(arrived)
        return self.tensorflow.py_function(each, list(values), [])

    def behind_loss(self, fact: Callable[[], None]) -> None:
        """Write a fact after its loss: now, or once the loss has arrived.

        Branches of the graph may run before the operator that reports the loss.
        """
        with self._lock:
            if self._rooted:
                fact()
            else:
                self._held.append(fact)

    def rooted(self) -> None:
        """Note that a loss was reported, and write the facts that wait for it."""
        with self._lock:
            self._rooted = True
            self._release()

    def ended(self) -> None:
        """Write the waiting facts after an update, or when a function has returned."""
        with self._lock:
            self._release()
            self._rooted = False

    def _release(self) -> None:
        lines, self._held = self._held, []
        for fact in lines:
            fact()

    def returned(self) -> None:
        """Write the waiting facts when the outermost function has returned."""
        self.ended()
        if self._untaken:
            self._untaken = False
            self.deep.unrecorded("gradients", BY_HAND)
