"""Levels `module` and `op` for JAX: what each outermost differentiation was given and returned, and
how weights and states went on.

Nothing is added to a compiled program. What is recorded stands at its boundary: arguments before
the call, results behind it. An evaluation is written down when the next one begins, as only that
shows what became of the weights; its loss comes last and closes the iteration.
"""

import os
import sys
import threading
from typing import Any, Dict, List, Optional, Set, Tuple

from ... import deep as deeper
from ... import import_hook
from ...hooking import guarded, install
from ...shared.iterations import BACKWARD
from .captured import captured
from .evaluation import Evaluation, Loss, Named
from .fingerprint import Fingerprints, flat, named, parameters, shown, title
from .keys import UNMOVED, Defaults, Keys, used
from .made import line_of

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
    """Takes evaluations as they begin and end, and writes them in the order in which they are to be
    read.
    """

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
        self.library = False
        """Whether a library calls compiled functions whose adapter records them."""
        recorder.on_fork.append(self.forked)
        recorder.on_end.append(self.finish)

    def hook(self) -> Dict[str, str]:
        """Install what is beside the differentiation itself; returns what became of each hook."""
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
        """A forked process writes its own evaluations."""
        self.lock = threading.RLock()
        self.current = None
        self.waiting.clear()
        self.recorded.clear()
        self.prints.forked()

    # ---------------------------------------------------------------------------------------- facts

    def say(self, r: str, place: str, **keys: Any) -> None:
        """Write a fact; behind the evaluation that is under way or not written yet, where there is
        one.
        """
        with self.lock:
            if self.current is None:
                self.deep.seen(r, place, **keys)
            else:
                self.waiting.append((r, place, keys))

    # ---------------------------------------------------------------------------------- evaluations

    def begin(self, evaluation: Evaluation) -> None:
        """An evaluation is about to run; the one before it is written. May end the process."""
        if self.deep.elsewhere():
            return
        with guarded("an evaluation that begins"), self.lock:
            self.settle(evaluation)
            self.deep.unrecorded("layers", LAYERS)
            if self.recorder.level == "op":
                self.deep.unrecorded("operators", OPERATORS)
            evaluation.drawn = self.defaults.moved()
            evaluation.generators = self.defaults.states()
            evaluation.made = dict(self.keys.states)
            self.current = evaluation

    @guarded("an evaluation that ends")
    def end(self, evaluation: Evaluation, raised: bool = False) -> None:
        """It has returned. Waits for its losses, which come from threads of the runtime.

        May end the process.
        """
        self.jax.effects_barrier()
        with self.lock:
            evaluation.ended = True
            if self.current is evaluation and raised:
                self.current = None
            elif self.current is evaluation and evaluation.known:
                self.settle(None)

    @guarded("a loss of jax")
    def lost(self, loss: Loss) -> None:
        """A value has arrived. May end the process."""
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

        `following`: the one that begins, which shows what became of the weights.
        """
        evaluation = self.current
        if evaluation is not None and evaluation.losses:
            self._write(evaluation)
            self._root(evaluation)
            for name, found in reversed(evaluation.gradients):
                self.deep.seen("gradient", name, out=[["", found]])
        waiting, self.waiting = self.waiting, []
        for r, place, keys in waiting:
            self.deep.seen(r, place, **keys)
        if evaluation is not None and evaluation.losses:
            for name, found in _updates(evaluation, following):
                self.deep.seen("update", name, out=[["", found]])
            self.current = None
            self._say_loss(evaluation.losses[-1])
        self.current = None

    @guarded("the last evaluation")
    def finish(self) -> None:
        """The process ends."""
        with self.lock:
            if not self.writing:
                self.settle(None)

    def _write(self, evaluation: Evaluation) -> None:
        """Write an evaluation up to its last loss, which waits for what comes behind it.

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
        """Everything up to the value."""
        if evaluation.begun:
            return
        evaluation.begun = True
        evaluation.decided()
        self.deep.seen("rng", "before evaluation", g=evaluation.generators)
        if evaluation.hyper:
            self.deep.seen("hyper", evaluation.name, out=evaluation.hyper)
        for buffer, given in ((False, evaluation.weights), (True, evaluation.states)):
            for name, found in given:
                if name not in self.recorded:
                    self.recorded[name] = None
                    self.deep.seen(
                        "weights",
                        name,
                        call=False,
                        out=[["", found]],
                        **self._origin(evaluation, name, buffer),
                    )
        if evaluation.batch:
            moved: Dict[str, Any] = {
                key: {**used(evaluation.made).get(key, {}), **evaluation.drawn.get(key, {})}
                for key in ("g", "g2")
            }
            self.deep.seen(
                "batch",
                "inputs of " + evaluation.name,
                out=evaluation.batch,
                **evaluation.samples(),
                **moved,
            )
        if evaluation.keys or evaluation.results:
            keys: Dict[str, Any] = {**evaluation.keys}
            self.deep.seen("call", evaluation.name, out=evaluation.results, **keys)

    def _origin(self, evaluation: Evaluation, name: str, buffer: bool) -> Dict[str, Any]:
        """Where a weight was made, and the generators that it can be made from: the keys made so
        far, and what was drawn from.
        """
        still = dict.fromkeys(evaluation.generators, UNMOVED)
        states = {**still, **evaluation.made, **evaluation.drawn.get("g", {})}
        line = evaluation.lines.get(name)
        return {**({"b": True} if buffer else {}), "g": states, **({"l": line} if line else {})}

    def lines(self, args: Tuple[Any, ...]) -> List[str]:
        """Of each argument of the call under way, the line of the script that made it; "" where
        that is not known.
        """
        frame = self.deep.frame(2)
        if frame is None:
            return []
        try:
            file = self.deep._user_file(frame.f_code.co_filename)
            return [
                "%s:%d" % (file, line) if line else ""
                for line in (line_of(frame, value) for value in args)
            ]
        except Exception as error:
            self.recorder.problem("where weights were made", error)
            return []

    def _root(self, evaluation: Evaluation) -> None:
        values, dtype, _ = evaluation.losses[evaluation.said]
        self.deep.seen(
            "root",
            "loss",
            out=[
                [str(number) if number else "", _leaf(value, dtype)]
                for number, value in enumerate(values)
            ],
        )

    def _say_loss(self, loss: Loss) -> None:
        values, dtype, changed = loss
        if changed is not None and self.recorder.watching():
            (self.recorder.moved if changed else self.recorder.still)()
        self.recorder.loss(values, dtype, BACKWARD, 1, "")

    # ------------------------------------------------------------ evaluations that are not compiled

    def eager(
        self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], argnums: Any
    ) -> Optional[Evaluation]:
        """An outermost differentiation with arrays for arguments is about to run."""
        frame = sys._getframe(2)
        if (
            not self.jax._src.core.trace_state_clean()
            or "/keras/src/" in frame.f_code.co_filename.replace(os.sep, "/")
        ):
            return None
        try:
            evaluation = Evaluation(title(function))
            names = parameters(function)
            chosen = {
                number % max(len(args), 1)
                for number in (argnums if isinstance(argnums, (tuple, list)) else (argnums,))
            }
            lines = self.lines(args)
            rest = []
            for path, leaf in flat(self.jax, (args, kwargs)):
                name = named(self.jax, path, names)
                if path[0].idx == 0 and path[1].idx in chosen:
                    evaluation.weights.append((name, self.prints.of(leaf)))
                    evaluation.lines[name] = lines[path[1].idx] if lines else ""
                else:
                    rest.append((name, leaf))
            self.take(evaluation, rest)
            numbers, arrays = self.outside(function, {id(leaf) for _, leaf in flat(self.jax, args)})
            evaluation.hyper += numbers
            evaluation.batch += [[name, found] for name, found, _ in arrays]
            evaluation.rows += [
                rows for _, _, rows in arrays if rows is not None and not evaluation.rows
            ]
            self.begin(evaluation)
            return evaluation
        except Exception as error:
            self.recorder.problem("before an evaluation", error)
            return None

    @guarded("tracing a differentiation")
    def traced(
        self, function: Any, args: Tuple[Any, ...], argnums: Any, gradients: Any, value: Any
    ) -> None:
        """A differentiation was traced into a program."""
        numbers = [
            number % max(len(args), 1)
            for number in (argnums if isinstance(argnums, (tuple, list)) else (argnums,))
        ]
        self.calls.differentiates(
            function, [(number, args[number]) for number in numbers], gradients, value
        )

    def returned(self, evaluation: Evaluation, gradients: Any, results: Any) -> None:
        """It has returned these gradients, and what else it returns."""
        with guarded("after an evaluation"):
            leaves = [self.prints.of(leaf) for _, leaf in flat(self.jax, gradients)]
            if len(leaves) == len(evaluation.weights):
                evaluation.gradients = [
                    (name, leaf) for (name, _), leaf in zip(evaluation.weights, leaves)
                ]
            evaluation.results = self.leaves(results)
        self.end(evaluation)

    # ------------------------------------------------------------------------------------ arguments

    def take(self, evaluation: Evaluation, given: List[Tuple[str, Any]]) -> None:
        """Arguments that are neither weights nor carried: keys, numbers, and the batch."""
        keys = []
        for name, leaf in given:
            if self.prints.is_array(leaf) and self.keys.is_key(leaf, name):
                keys.append(leaf)
            elif self.prints.is_array(leaf) and bool(getattr(leaf, "ndim", 0)):
                evaluation.batch.append([name, self.prints.of(leaf)])
                rows = self.prints.rows(leaf)
                evaluation.rows += [rows] if rows is not None else []
            elif self.prints.is_array(leaf) or isinstance(leaf, (bool, int, float, complex)):
                evaluation.hyper.append([name, self.number(leaf)])
        if keys:
            evaluation.keys = self.keys.drawn(keys)

    def outside(self, function: Any, known: Set[int]) -> Tuple[List[List[Any]], List[Any]]:
        """What a function takes from outside: numbers, and arrays with their samples.

        `known`: ids of its arguments.
        """
        numbers, arrays = captured(function, self.prints.is_array, self._is_users)
        given = [
            (name, one)
            for name, one in arrays.items()
            if id(one) not in known and not self.tracer(one)
        ]
        return (
            [
                [name, self.number(one)]
                for name, one in numbers.items()
                if not self.keys.is_key(one, name)
            ],
            [
                (name, self.prints.of(one), self.prints.rows(one))
                for name, one in given
                if not self.keys.is_key(one, name)
            ],
        )

    def _is_users(self, code: Any) -> bool:
        return bool(self.deep._user_file(code.co_filename))

    def number(self, leaf: Any) -> Dict[str, Any]:
        """A number as a hyper-parameter stands in the trace."""
        if self.tracer(leaf):
            return {"h": "", "d": "traced"}
        if (
            self.prints.is_array(leaf)
            and leaf.dtype.kind in "fiub"
            and not getattr(leaf, "ndim", 0)
        ):
            leaf = self.prints.host(leaf).item()
        found: Dict[str, Any] = self.prints.of(leaf)
        return found

    def tracer(self, leaf: Any) -> bool:
        """Whether a leaf stands for an array while a program is traced."""
        return isinstance(leaf, self.jax.core.Tracer)

    def leaves(self, value: Any) -> List[List[Any]]:
        """The leaves of a result with their paths."""
        return [
            [shown(self.jax, path), self.prints.of(leaf)] for path, leaf in flat(self.jax, value)
        ]


def _updates(evaluation: Evaluation, following: Optional[Evaluation]) -> Named:
    """Weights and states after an evaluation, from its results or from the arguments of the next
    one of the same function.
    """
    if (
        evaluation.known
        or following is None
        or (evaluation.owner is not None and following.owner is not evaluation.owner)
    ):
        return evaluation.after
    following.decided()
    names = {name for name, _ in evaluation.weights}
    found = [(name, leaf) for name, leaf in following.weights if name in names]
    names = {name for name, _ in evaluation.states}
    return found + [(name, leaf) for name, leaf in following.states if name in names]


def _leaf(value: float, dtype: str) -> Dict[str, Any]:
    return {
        "h": float(value).hex(),
        "d": dtype,
        "s": [],
        "v": [value if value - value == 0 else repr(value)],
    }
