"""Records each outermost differentiation of JAX at its boundary: levels `module` and `op`.

It records arguments and results, and the weights and states afterwards.

Nothing is added to a compiled program: arguments are read before the call, results after it. An
evaluation is written when the next one begins, because only that shows the updated weights; its
loss comes last and closes the iteration.
"""

import os
import sys
import threading
from base64 import b64encode
from itertools import compress
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ...deep_levels import facts as deeper
from ...deep_levels.leaves import number
from ...recorder import import_hook
from ...recorder.hooking import guarded, install
from ...recorder.lines import of_line
from ...shared.iterations import BACKWARD
from ...shared.marks import UNMOVED
from .captured_values import captured
from .creation_site import line_of
from .evaluation import OF_OPTIMIZER, Argument, Evaluation, Loss, Named, Unkept, positions
from .fingerprint import Fingerprints, flat, named, of_keras, parameters, shown, title
from .keys import Defaults, Keys, used
from .plan import Plan, arranged

OPERATORS = (
    "operators are not recorded one by one for JAX: level `op` records what level `module` does"
)
LAYERS = (
    "layers inside a function are not recorded one by one: a compiled program is recorded at its"
    " boundary, and nothing is added to it"
)
SEVERAL = (
    "a compiled call evaluates its value several times: weights and batches are seen before the"
    " first time and after the last alone"
)
ELSEWHERE = (
    "a value was evaluated in a compiled program whose call was not seen: its loss alone was"
    " recorded"
)
PACKAGES = ("jax", "jaxlib", "flax", "optax", "orbax", "chex", "haiku", "equinox")


class Watcher:
    """The recorder of evaluations (of a value and its gradient), written in order."""

    def __init__(self, jax: Any, recorder: Any) -> None:
        self.jax = jax
        self.recorder = recorder
        self.deep = deeper.of(recorder)
        folder = os.path.dirname(os.path.dirname(os.path.abspath(jax.__file__)))
        self.deep.foreign += [os.path.join(folder, name, "") for name in PACKAGES]
        self.prints = Fingerprints(jax, self.deep)
        if self.deep.fingerprints is None:
            self.deep.fingerprints = self.prints
        self.keys = Keys(jax, self.deep, self.prints, self.say)
        self.defaults = Defaults(self.deep, self.say)
        self.lock = threading.RLock()
        self.current: Optional[Evaluation] = None
        # facts behind the evaluation that is not written yet
        self.waiting: List[Tuple[str, str, Dict[str, Any]]] = []
        self.recorded: Dict[str, None] = {}  # names of weights whose first values were written
        self.writing = False
        self.owes_state = False
        """Whether the state that an optimizer is given next is asked for: the evaluation behind a
        boundary has ended.
        """
        self.arguments = Unkept(jax)
        """Keeps what steps are given as values, or replaces it, where that is asked for."""
        if getattr(self.deep.boundary, "values", None) is not None:
            from .state_io import Arguments

            self.arguments = Arguments(jax, self, self.deep.boundary.values)
        self.library = False
        """Whether a library calls compiled functions whose adapter records them."""
        recorder.on_fork.append(self.forked)
        recorder.on_end.append(self.finish)

    def hook(self) -> Dict[str, str]:
        """Set all hooks except the one on differentiation; return the outcome of each."""
        from .calls import Calls
        from .updates import Updates

        self.calls = Calls(self.jax, self)
        steps = {
            "keys": self.keys.hook,
            "generators": self.defaults.hook,
            "compiled functions": self.calls.hook,
        }
        steps["optax"] = lambda: import_hook.when_imported("optax", Updates(self.jax, self).hook)
        return install(self.jax, steps)

    def forked(self) -> None:
        """Let a forked process write its own evaluations."""
        self.lock = threading.RLock()
        self.current = None
        self.waiting.clear()
        self.recorded.clear()

    def say(self, r: str, place: str, **keys: Any) -> None:
        """Write a fact of the kind `r`; after the evaluation that is open, if there is one."""
        with self.lock:
            if self.current is None:
                self.deep.seen(r, place, **keys)
            else:
                self.waiting.append((r, place, keys))

    def begin(self, evaluation: Evaluation) -> None:
        """Begin an evaluation and write the one before it.

        May end the process.
        """
        if self.deep.elsewhere():
            return
        with guarded("an evaluation that begins"), self.lock:
            self.settle(evaluation)
            evaluation.marked = self.deep.goes_on("jax")
            self.owes_state = False
            self.deep.unrecorded("layers", LAYERS)
            if self.recorder.level == "op":
                self.deep.unrecorded("operators", OPERATORS)
            evaluation.drawn = self.defaults.moved()
            evaluation.generators = self.defaults.states()
            evaluation.made = dict(self.keys.states)
            self.current = evaluation

    @guarded("an evaluation that ends")
    def end(self, evaluation: Evaluation, raised: bool = False) -> None:
        """End an evaluation that has returned, after its losses have arrived.

        May end the process.

        The losses come from threads of the JAX runtime.
        """
        self.jax.effects_barrier()
        with self.lock:
            evaluation.ended = True
            self.owes_state = evaluation.marked
            if self.current is evaluation and raised:
                self.current = None
            elif self.current is evaluation and evaluation.known:
                self.settle(None)
            elif self.current is evaluation and evaluation.losses:
                self.recorder.waiting = 1

    @guarded("a loss of jax")
    def lost(self, loss: Loss) -> None:
        """Take a loss that has arrived from the device.

        May end the process.
        """
        with self.lock:
            evaluation = self.current
            if evaluation is None or evaluation.ended:
                self.settle(None)
                if not self.library:
                    self.deep.unrecorded("a compiled program", ELSEWHERE)
                self._say_loss(loss)
                return
            evaluation.losses.append(loss)
            if len(evaluation.losses) > 1:
                self.deep.unrecorded(evaluation.name, SEVERAL)
                self._write(evaluation)

    def settle(self, following: Optional[Evaluation]) -> None:
        """Write the evaluation that is not written yet.

        `following` is the next evaluation, which shows the updated weights.
        """
        evaluation = self.current
        if evaluation is None or not evaluation.losses:
            self._say_waiting()
            self.current = None
            return
        self._write(evaluation)
        self._root(evaluation)
        for name, fingerprint in reversed(evaluation.gradients):
            self.deep.seen("gradient", name, out=[["", fingerprint]])
        self._say_waiting()
        for name, fingerprint in _updates(evaluation, following):
            self.deep.seen("update", name, out=[["", fingerprint]])
        self.current = None
        self._say_loss(evaluation.losses[-1])
        self.current = None

    def _say_waiting(self) -> None:
        waiting, self.waiting = self.waiting, []
        for r, place, keys in waiting:
            self.deep.seen(r, place, **keys)

    @guarded("the last evaluation")
    def finish(self) -> None:
        """Write the last evaluation when the process ends."""
        with self.lock:
            if not self.writing:
                self.settle(None)

    def _write(self, evaluation: Evaluation) -> None:
        """Write an evaluation up to its last loss, which is written when the next one begins.

        May end the process.
        """
        self._head(evaluation)
        self.writing = True
        try:
            while evaluation.said < len(evaluation.losses) - 1:
                self._root(evaluation)
                evaluation.said += 1
                self._say_loss(evaluation.losses[evaluation.said - 1])
        finally:
            self.writing = False

    def _head(self, evaluation: Evaluation) -> None:
        """Write the facts of an evaluation before its value, such as weights and batch."""
        if evaluation.begun:
            return
        evaluation.begun = True
        evaluation.decided()
        self.arguments.keep(evaluation)
        self.deep.seen("rng", "before evaluation", g=evaluation.generators)
        if evaluation.hyper:
            self.deep.seen("hyper", evaluation.name, out=evaluation.hyper)
        self._first_values(evaluation, evaluation.weights)
        self._first_values(evaluation, evaluation.states, b=True)
        if evaluation.marked:
            for name, fingerprint in evaluation.weights + evaluation.states:
                kind = evaluation.kinds.get(name, {})
                self.deep.seen("held", name, call=False, out=[["", fingerprint]], **kind)
            for name, digest in evaluation.keys.get("g", {}).items():
                raw = b64encode(digest.encode()).decode()
                self.deep.seen("state", name, call=False, raw=raw)
        if evaluation.batch:
            from_keys, drawn = used(evaluation.made), evaluation.drawn
            moved: Dict[str, Any] = {
                key: {**from_keys.get(key, {}), **drawn.get(key, {})} for key in ("g", "g2")
            }
            moved.update(evaluation.samples())
            self.deep.seen("batch", "inputs of " + evaluation.name, out=evaluation.batch, **moved)
        if evaluation.keys or evaluation.results:
            keys: Dict[str, Any] = {**evaluation.keys}
            self.deep.seen("call", evaluation.name, out=evaluation.results, **keys)
        if evaluation.keys and not self.keys.folds:
            # for mirrors: the keys are the states that its draws begin with
            draw = {
                "place": evaluation.name,
                "iteration": self.deep.grouping.closed + 1,
                "class_": "key",
                "copies": evaluation.copies,
                "states": evaluation.keys["g"],
            }
            self.recorder.emit({"e": "given", "k": "draw", "v": draw})

    def hold_state(self, given: Any, leaves: List[Tuple[str, Any]], states: Sequence[bool]) -> Any:
        """Record the state that an optimizer is given outside of the differentiation.

        The first state after a stop and resume is recorded. Returns what the optimizer is to be
        given instead of `given`.

        leaves  the leaves of `given`, each with its name
        states  for each leaf, whether it belongs to the state of an optimizer
        """
        state_leaves = list(compress(leaves, states))
        if not state_leaves:
            return given
        self.owes_state = False
        replacements = self.arguments.state(state_leaves)
        for name, leaf in state_leaves:
            fingerprint = self.argument(name, replacements.get(name, leaf)).found
            self.say("held", name, call=False, out=[["", fingerprint]], **OF_OPTIMIZER)
        return self.arguments.replaced(given, leaves, replacements)

    def _first_values(self, evaluation: Evaluation, given: Named, **keys: Any) -> None:
        """Record weights that were not seen before.

        Each is recorded with the line that made it, and the generators that it may be drawn from:
        the JAX PRNG keys made so far, and the generators of Python and numpy that moved.
        """
        still = dict.fromkeys(evaluation.generators, UNMOVED)
        keys["g"] = {**still, **evaluation.made, **evaluation.drawn.get("g", {})}
        for name, fingerprint in given:
            if name not in self.recorded:
                self.recorded[name] = None
                line = of_line(evaluation.lines.get(name, ""))
                self.deep.seen("weights", name, call=False, out=[["", fingerprint]], **keys, **line)

    def lines(self, args: Tuple[Any, ...]) -> List[str]:
        """Return the script's line that made each argument of the call; "" if unknown."""
        frame = self.deep.frame(2)
        if frame is None:
            return []
        with guarded("where weights were made"):
            file = self.deep._user_file(frame.f_code.co_filename)
            lines = [line_of(frame, value) for value in args]
            return ["%s:%d" % (file, line) if line else "" for line in lines]
        return []

    def _root(self, evaluation: Evaluation) -> None:
        values, dtype, _ = evaluation.losses[evaluation.said]
        leaves = [
            [str(place), {"h": float(value).hex(), "d": dtype, "s": [], "v": [number(value)]}]
            for place, value in enumerate(values)
        ]
        leaves[0][0] = ""  # a single value is the loss itself
        self.deep.seen("root", "loss", out=leaves)

    def _say_loss(self, loss: Loss) -> None:
        values, dtype, changed = loss
        if changed is not None and self.recorder.watching():
            self.recorder.looked(changed)
        self.recorder.loss(values, dtype, BACKWARD, 1, "")

    def eager(
        self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], argnums: Any
    ) -> Optional[Evaluation]:
        """Record an outermost differentiation whose arguments are arrays, before it runs."""
        # JAX offers no public way to ask whether a function is being traced
        if not self.jax._src.core.trace_state_clean():
            return None
        if of_keras(sys._getframe(2)):
            return None
        with guarded("before an evaluation"):
            evaluation = Evaluation(title(function))
            self._given(evaluation, function, args, kwargs, argnums)
            numbers, arrays = self.outside(function, self.jax.tree_util.tree_leaves(args))
            evaluation.from_outside(numbers, arrays)
            self.begin(evaluation)
            return evaluation
        return None

    def _given(
        self, evaluation: Evaluation, function: Any, args: Any, kwargs: Any, argnums: Any
    ) -> None:
        """Record the arguments of an evaluation; the differentiated ones are weights."""
        names, chosen = parameters(function), positions(argnums, len(args))
        evaluation.given = self.arguments.read(self.named(function, (args, kwargs)))
        lines = dict(enumerate(self.lines(args)))
        rest, keys = [], []
        for path, leaf in flat(self.jax, (args, kwargs)):
            name = named(self.jax, path, names)
            is_positional = path[0].idx == 0
            if is_positional and path[1].idx in chosen:
                evaluation.weights.append((name, self.prints.of(leaf)))
                evaluation.lines[name] = lines.get(path[1].idx, "")
                continue
            argument = self.argument(name, leaf)
            rest.append(argument)
            if argument.kind == "key":
                keys.append(leaf)
        arranged(evaluation, rest, Plan())
        evaluation.keys = self.keys.drawn(keys)
        evaluation.copies = self.keys.copies(keys)

    def due(self, function: Any, args: Any, kwargs: Any) -> Any:
        """Return (args, kwargs) to pass to an outermost differentiation.

        In a resumed run, kept values replace the script's arguments.
        """
        given = args, kwargs
        if self.jax._src.core.trace_state_clean() and not of_keras(sys._getframe(2)):
            with guarded("the arguments of a step"):
                return self.arguments.instead(title(function), given, self.named(function, given))
        return given

    def named(self, function: Any, given: Any) -> List[Tuple[str, Any]]:
        """Return (name, leaf) of the arguments of a function."""
        names = parameters(function)
        return [(named(self.jax, path, names), leaf) for path, leaf in flat(self.jax, given)]

    @guarded("tracing a differentiation")
    def traced(
        self, function: Any, args: Tuple[Any, ...], argnums: Any, gradients: Any, value: Any
    ) -> None:
        """Note that a differentiation was traced into a compiled program."""
        chosen = [(number, args[number]) for number in positions(argnums, len(args))]
        self.calls.differentiates(function, chosen, gradients, value)

    def returned(self, evaluation: Evaluation, gradients: Any, results: Any) -> None:
        """Record the gradients that an evaluation has returned, and its other results."""
        with guarded("after an evaluation"):
            leaves = [self.prints.of(leaf) for _, leaf in flat(self.jax, gradients)]
            if len(leaves) == len(evaluation.weights):
                evaluation.gradients = [
                    (name, leaf) for (name, _), leaf in zip(evaluation.weights, leaves)
                ]
            evaluation.results = self.leaves(results)
        self.end(evaluation)

    def argument(self, name: str, leaf: Any) -> Argument:
        """Return one leaf of the arguments of a function."""
        if isinstance(leaf, (bool, int, float, complex)):
            return Argument(name, "number", self.number(leaf))
        if not self.prints.is_array(leaf):
            return Argument(name, "", {})
        if self.keys.is_key(leaf, name):
            return Argument(name, "key", self.prints.of(leaf))
        if not getattr(leaf, "ndim", 0):
            return Argument(name, "number", self.number(leaf))
        return Argument(name, "array", self.prints.of(leaf), self.prints.rows(leaf))

    def outside(self, function: Any, given: List[Any]) -> Tuple[List[List[Any]], List[Argument]]:
        """Return (numbers, arrays) that a function uses without taking them as arguments.

        `given`: the arguments of the function.
        """
        numbers, arrays = captured(
            function,
            self.prints.is_array,
            lambda code: bool(self.deep._user_file(code.co_filename)),
        )
        known = set(map(id, given))
        others = [
            self.argument(name, value)
            for name, value in arrays.items()
            if id(value) not in known and not self.tracer(value)
        ]
        settings = [
            [name, self.number(value)]
            for name, value in numbers.items()
            if not self.keys.is_key(value, name)
        ]
        return settings, [value for value in others if value.kind == "array"]

    def number(self, leaf: Any) -> Dict[str, Any]:
        """Return a number as the trace stores hyper-parameters."""
        if self.tracer(leaf):
            return {"h": "", "d": "traced"}
        is_scalar = self.prints.is_array(leaf) and not getattr(leaf, "ndim", 0)
        if is_scalar and leaf.dtype.kind in "fiub":
            leaf = self.prints.array(leaf).item()
        fingerprint: Dict[str, Any] = self.prints.of(leaf)
        return fingerprint

    def tracer(self, leaf: Any) -> bool:
        """Return whether a leaf is a tracer: it stands for an array during tracing."""
        return isinstance(leaf, self.jax.core.Tracer)

    def leaves(self, value: Any) -> List[List[Any]]:
        """Return (path, leaf) of the leaves of a result."""
        return [
            [shown(self.jax, path), self.prints.of(leaf)] for path, leaf in flat(self.jax, value)
        ]


def _updates(evaluation: Evaluation, following: Optional[Evaluation]) -> Named:
    """Return weights and states after an evaluation.

    They are read from its results or from the arguments of the next evaluation of the same
    function.
    """
    if evaluation.known or following is None:
        return evaluation.after
    if evaluation.owner not in (None, following.owner):
        return evaluation.after
    following.decided()
    weights, states = dict(evaluation.weights), dict(evaluation.states)
    updated = [pair for pair in following.weights if pair[0] in weights]
    return updated + [pair for pair in following.states if pair[0] in states]
