"""Records updates by optimizers of Keras.

It records hyper-parameters before, gradients given, and weights and states after an update.
"""

from typing import Any, Dict, List, Optional, Sequence, Tuple

from ...deep_levels import leaves
from ...host.tensors import array
from ...recorder.hooking import guarded

SCHEDULE = (
    "a schedule of the script's own: its value is recorded nowhere, as calling it could change it"
)
Named = List[Tuple[str, Any]]


class Updates:
    """The recorder of updates.

    They are made eagerly, out of a function that TensorFlow compiles, or between the batches of a
    trainer.
    """

    def __init__(self, watcher: Any) -> None:
        self.watcher = watcher
        self.facts = watcher.facts
        self.deep = watcher.deep
        self.index_of: Any = None
        """Gives the recorder's index of an optimizer; set by the adapter."""
        self.optimizers: Any = dict
        """Gives the live optimizers with their indices; set by the adapter."""
        self._way = ""  # how the update under way is seen: `eager`, `graph`, or not at all
        self._described = False  # an update was described since the batch began
        self._hyper: Optional[Named] = None

    def before(self, optimizer: Any, gradients: Any, weights: Any) -> None:
        """Record an optimizer that is about to be applied."""
        self._way = ""
        with guarded("before an update"):
            # `apply(grads)` alone is for the weights that it was built with
            if weights is None:
                weights = optimizer._trainable_variables
            weights, gradients = list(weights), list(gradients)
            if len(gradients) != len(weights):
                return
            given = [pair for pair in zip(weights, gradients) if pair[1] is not None]
            graphs = self.watcher.graphs
            traced = False
            if graphs is not None:
                graphs.begin(weights)
                graphs.optimized()
                traced = not graphs.tensorflow.executing_eagerly()
            if traced:
                # of what XLA compiles nothing can be handed out: it is looked at between batches
                if not graphs.in_xla():
                    self._way = "graph"
                    self._before_in_graph(graphs, optimizer, given)
            elif self.watcher.concrete(gradients):
                self._way = "eager"
                self.facts.begin(weights)
                names = [self.facts.name(weight) for weight, _ in given]
                self.say(
                    optimizer, names, [variable for _, variable in given], self.hyper(optimizer)
                )

    def say(
        self, optimizer: Any, names: Sequence[str], gradients: Sequence[Any], hyper: Named
    ) -> None:
        """Record generators, hyper-parameters and gradients just before an update."""
        index = self.index_of(optimizer)
        self.deep.seen("rng", "before update", g=self.deep.rng())
        self.say_hyper(optimizer, hyper)
        self.facts.gradients("reduced", zip(names, gradients), index)

    def say_hyper(self, optimizer: Any, hyper: Named) -> None:
        """Record hyper-parameters just before an update."""
        index = self.index_of(optimizer)
        leaves_by_name = [
            [name, leaves.plain(_number(value)) or self.facts.prints.of(value)]
            for name, value in hyper
        ]
        self.deep.seen(
            "hyper", "%s[%d]" % (type(optimizer).__name__, index), o=index, out=leaves_by_name
        )

    @guarded("after an update")
    def after(self, optimizer: Any) -> None:
        """Record an optimizer that was applied."""
        if self._way == "graph":
            graphs = self.watcher.graphs
            named = self.states(optimizer)
            names, index = [name for name, _ in named], self.index_of(optimizer)

            def arrived(*values: Any) -> None:
                self._described = True
                self.facts.all_updated(list(zip(names, values)), index)

            graphs.stream(
                arrived, [graphs.tensorflow.convert_to_tensor(value) for _, value in named]
            )
        elif self._way == "eager":
            self._described = True
            self.facts.all_updated(self.states(optimizer), self.index_of(optimizer))

    def states(self, optimizer: Any) -> Named:
        """Return weights and states as `dense.kernel`, `dense.kernel:momentum`."""
        weights = [(self.facts.name(weight), weight) for weight in optimizer._trainable_variables]
        owners = {_prefix(weight): name for name, weight in reversed(weights)}
        prefixes = sorted(owners, key=len, reverse=True)
        named = list(weights)
        for state in optimizer.variables:
            prefix = next(filter(state.name.startswith, prefixes), "")
            if prefix and state.name not in ("iteration", "learning_rate"):
                named.append((owners[prefix] + ":" + state.name[len(prefix) :], state))
        return named

    def _before_in_graph(
        self, graphs: Any, optimizer: Any, given: Sequence[Tuple[Any, Any]]
    ) -> None:
        tf = graphs.tensorflow
        dense: Dict[str, Any] = {}
        for weight, gradient in given:
            name = self.facts.name(weight)
            if isinstance(gradient, tf.Tensor):
                dense[name] = gradient
            else:
                why = "its gradient is sparse: not recorded in a compiled function"
                self.deep.unrecorded(name, why)
        rate, others = self._rate(optimizer), self._others(optimizer)
        inputs = []
        if _is_schedule(rate):
            inputs = [tf.convert_to_tensor(optimizer.iterations)]
        elif rate is not None:
            inputs = [tf.convert_to_tensor(rate)]

        def arrived(*values: Any) -> None:
            read = values[: len(inputs)]
            if _is_schedule(rate):
                read = tuple(map(rate, read))
            hyper = [*(("learning_rate", rate_value) for rate_value in read), *others]
            self.say(optimizer, list(dense), values[len(inputs) :], hyper)

        graphs.stream(arrived, [*inputs, *dense.values()])

    def begin(self, optimizer: Any, outside: bool) -> None:
        """Begin a batch of a trainer; `outside`: the batch's update can only be read afterwards."""
        self._described, self._hyper = False, None
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        if outside and optimizer is not None:
            self._hyper = self.hyper(optimizer)

    def end(self, optimizer: Any, index: int) -> None:
        """End a batch of a trainer, and record its update if it was not recorded when made."""
        # a loss-scaling optimizer holds the one that has the weights
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        if self._described or self._hyper is None or optimizer is None:
            return
        self.deep.seen("rng", "after update", g=self.deep.rng())
        self.say_hyper(optimizer, self._hyper)
        self.facts.all_updated(self.states(optimizer), index)

    def hyper(self, optimizer: Any) -> Named:
        """Return the present hyper-parameters."""
        rate = self._rate(optimizer)
        if rate is None:
            return self._others(optimizer)
        if _is_schedule(rate):
            rate = rate(optimizer.iterations)
        return [("learning_rate", array(rate)), *self._others(optimizer)]

    def _rate(self, optimizer: Any) -> Any:
        """Return the learning rate of an optimizer: a variable, or a schedule of Keras."""
        rate = getattr(optimizer, "_learning_rate", None)
        if rate is not None and not hasattr(rate, "assign") and not _is_schedule(rate):
            self.deep.unrecorded("learning_rate", SCHEDULE)
            return None
        return rate

    @staticmethod
    def _others(optimizer: Any) -> Named:
        attributes: Dict[str, Any] = vars(optimizer)
        numbers = [pair for pair in attributes.items() if isinstance(pair[1], (bool, int, float))]
        return [(name, value) for name, value in numbers if name != "built" and name[:1] != "_"]


def _number(value: Any) -> Any:
    """Return an array of one element as a number."""
    if not hasattr(value, "shape"):
        return value
    value = array(value)
    return value.item() if value.size == 1 else value


def _prefix(weight: Any) -> str:
    """Return the prefix of the names of a weight's optimizer states.

    `Optimizer.add_variable_from_reference` makes these names.
    """
    name = getattr(weight, "path", "") or str(weight.name).replace(":", "_")
    return name.replace("/", "_") + "_"


def _is_schedule(rate: Any) -> bool:
    return type(rate).__module__.startswith("keras.") and not hasattr(rate, "assign")
