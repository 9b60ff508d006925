"""Levels `module` and `op` for JAX: what each outermost differentiation was given and returned, and how weights and states went on.

Nothing is added to a compiled program. What is recorded stands at its boundary: arguments before the call, results behind it. An
evaluation is written down when the next one begins, as only that shows what became of the weights; its loss comes last and closes the
iteration.
"""

import os
import sys
import threading
from typing import Any, Dict, List, Optional, Tuple

from ... import deep as deeper
from ... import import_hook
from ...iterations import BACKWARD
from .evaluation import Evaluation, Loss, Named
from .fingerprint import Fingerprints, flat, named, parameters, title
from .keys import Defaults, Keys, deep_states, used

OPERATORS = "operators are not recorded one by one for JAX: level `op` records what level `module` does"
LAYERS = "layers inside a function are not recorded one by one: a compiled program is recorded at its boundary, and nothing is added to it"
SEVERAL = "a compiled call evaluates its value several times: weights and batches are seen before the first time and after the last alone"
ELSEWHERE = "a value was evaluated in a compiled program whose call was not seen: its loss alone was recorded"
PACKAGES = ("jax", "jaxlib", "flax", "optax", "orbax", "chex", "haiku", "equinox")


class Watcher:
    """Takes evaluations as they begin and end, and writes them in the order in which they are to be read."""

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
        self.waiting: List[Tuple[str, str, Dict[str, Any]]] = []  # facts behind the evaluation that is not written yet
        self.recorded: Dict[str, None] = {}  # names of weights whose first values were written
        self.writing = False
        recorder.on_fork.append(self.forked)
        recorder.on_end.append(self.finish)

    def hook(self) -> Dict[str, str]:
        """Install what is beside the differentiation itself; returns what became of each hook."""
        from .calls import Calls
        from .updates import Updates

        self.deep.unrecorded("layers", LAYERS)
        if self.recorder.level == "op":
            self.deep.unrecorded("operators", OPERATORS)
        self.calls = Calls(self.jax, self)
        steps = {"keys": self.keys.hook, "generators": self._hook_generators, "compiled functions": self.calls.hook}
        steps["optax"] = lambda: import_hook.when_imported("optax", Updates(self.jax, self).hook)
        hooks: Dict[str, str] = {}
        for name, step in steps.items():
            try:
                step()
                hooks[name] = "ok"
            except Exception as error:
                hooks[name] = "not available in jax %s: %r" % (self.jax.__version__, error)
        return hooks

    def _hook_generators(self) -> None:
        self.defaults.hook()
        self.deep.seen("rng", "start", g=self._states())

    def forked(self) -> None:
        """A forked process writes its own evaluations."""
        self.lock = threading.RLock()
        self.current = None
        self.waiting.clear()
        self.recorded.clear()
        self.prints.forked()

    # ------------------------------------------------------------------------------------------------ facts

    def say(self, r: str, place: str, **keys: Any) -> None:
        """Write a fact; behind the evaluation that is under way or not written yet, where there is one."""
        with self.lock:
            if self.current is None:
                self.deep.seen(r, place, **keys)
            else:
                self.waiting.append((r, place, keys))

    def _states(self) -> Dict[str, str]:
        return {name: self.deep.hash_bytes(state) for name, state in deep_states(self.deep).items()}

    # ------------------------------------------------------------------------------------------------ evaluations

    def begin(self, evaluation: Evaluation) -> None:
        """An evaluation is about to run; the one before it is written. May end the process."""
        with self.lock:
            self.settle(evaluation)
            evaluation.drawn = self.defaults.moved()
            evaluation.generators = self._states()
            self.current = evaluation

    def end(self, evaluation: Evaluation, raised: bool = False) -> None:
        """It has returned. Waits for its losses, which come from threads of the runtime. May end the process."""
        self.jax.effects_barrier()
        with self.lock:
            if self.current is evaluation and raised:
                self.current = None
            elif self.current is evaluation and evaluation.updates is not None:
                self.settle(None)

    def lost(self, loss: Loss) -> None:
        """A value has arrived. May end the process."""
        with self.lock:
            evaluation = self.current
            if evaluation is None:
                self.deep.unrecorded("a compiled program", ELSEWHERE)
                self._say_loss(loss)
                return
            evaluation.losses.append(loss)
            if len(evaluation.losses) > 1:
                self.deep.unrecorded(evaluation.name, SEVERAL)
                self._write(evaluation)

    def settle(self, following: Optional[Evaluation]) -> None:
        """Write the evaluation that is not written yet. `following`: the one that begins, which shows what became of the weights."""
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

    def finish(self) -> None:
        """The process ends."""
        try:
            with self.lock:
                if not self.writing:
                    self.settle(None)
        except Exception as error:
            self.recorder.problem("the last evaluation", error)

    def _write(self, evaluation: Evaluation) -> None:
        """Write an evaluation up to its last loss, which waits for what comes behind it. May end the process."""
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
        evaluation.decide()
        self.deep.seen("rng", "before evaluation", g=evaluation.generators)
        origin = self._origin(evaluation)
        for name, found in evaluation.weights:
            self._first_value(name, found, False, origin)
        for name, found in evaluation.states:
            self._first_value(name, found, True, origin)
        if evaluation.hyper:
            self.deep.seen("hyper", evaluation.name, out=evaluation.hyper)
        if evaluation.batch:
            samples = {} if evaluation.samples is None else {"n": evaluation.samples}
            moved = {key: {**used(dict(self.keys.states)).get(key, {}), **evaluation.drawn.get(key, {})} for key in ("g", "g2")}
            self.deep.seen("batch", "inputs of " + evaluation.name, out=evaluation.batch, **samples, **moved)
        if evaluation.keys or evaluation.results:
            self.deep.seen("call", evaluation.name, out=evaluation.results, **evaluation.keys)

    def _origin(self, evaluation: Evaluation) -> Dict[str, Any]:
        """States of the generators that weights can be made from: the keys made so far, and what was drawn from."""
        return {"g": {**self.keys.states, **evaluation.drawn.get("g", {})}}

    def _first_value(self, name: str, found: Dict[str, Any], buffer: bool, origin: Dict[str, Any]) -> None:
        if name not in self.recorded:
            self.recorded[name] = None
            self.deep.seen("weights", name, call=False, out=[["", found]], **({"b": True} if buffer else {}), **origin)

    def _root(self, evaluation: Evaluation) -> None:
        values, dtype, _ = evaluation.losses[evaluation.said]
        self.deep.seen("root", "loss", out=[[str(number) if number else "", _leaf(value, dtype)] for number, value in enumerate(values)])

    def _say_loss(self, loss: Loss) -> None:
        values, dtype, changed = loss
        if changed is not None and self.recorder.watching():
            (self.recorder.moved if changed else self.recorder.still)()
        self.recorder.loss(values, dtype, BACKWARD, 1, "")

    # ------------------------------------------------------------------------------------------------ evaluations that are not compiled

    def eager(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], argnums: Any) -> Optional[Evaluation]:
        """An outermost differentiation with arrays for arguments is about to run."""
        frame = sys._getframe(2)
        if "/keras/src/" in frame.f_code.co_filename.replace(os.sep, "/"):
            return None
        try:
            evaluation = Evaluation(title(function))
            names = parameters(function)
            chosen = {number % max(len(args), 1) for number in (argnums if isinstance(argnums, (tuple, list)) else (argnums,))}
            rest = []
            for path, leaf in flat(self.jax, (args, kwargs)):
                name = named(self.jax, path, names)
                if path[0].idx == 0 and path[1].idx in chosen:
                    evaluation.weights.append((name, self.prints.of(leaf)))
                else:
                    rest.append((name, leaf))
            self.take(evaluation, rest)
            self.take_captured(evaluation, function, {id(leaf) for _, leaf in flat(self.jax, args)})
            evaluation.samples = self.prints.samples(evaluation.arrays)
            self.begin(evaluation)
            return evaluation
        except Exception as error:
            self.recorder.problem("before an evaluation", error)
            return None

    def returned(self, evaluation: Evaluation, gradients: Any, results: Any, argnums: Any) -> None:
        """It has returned these gradients, and what else it returns."""
        try:
            leaves = [self.prints.of(leaf) for _, leaf in flat(self.jax, gradients)]
            if len(leaves) == len(evaluation.weights):
                evaluation.gradients = [(name, leaf) for (name, _), leaf in zip(evaluation.weights, leaves)]
            evaluation.results = self.leaves(results)
        except Exception as error:
            self.recorder.problem("after an evaluation", error)
        self.end(evaluation)

    # ------------------------------------------------------------------------------------------------ arguments

    def take(self, evaluation: Evaluation, given: List[Tuple[str, Any]]) -> None:
        """Arguments that are neither weights nor carried: keys, numbers, and the batch."""
        keys = []
        for name, leaf in given:
            if self.prints.is_array(leaf) and self.keys.is_key(leaf, name):
                keys.append(leaf)
            elif self.prints.is_array(leaf) and getattr(leaf, "ndim", 0):
                evaluation.batch.append([name, self.prints.of(leaf)])
                evaluation.arrays.append(leaf)
            elif self.prints.is_array(leaf) or isinstance(leaf, (bool, int, float, complex)):
                evaluation.hyper.append([name, self.number(leaf)])
        if keys:
            evaluation.keys = self.keys.drawn(keys)

    def take_captured(self, evaluation: Evaluation, function: Any, known: Any) -> None:
        """What the function takes from outside; `known`: ids of arrays that are among its arguments too."""
        from .captured import captured

        numbers, arrays = captured(function, self.prints.is_array, self._is_users)
        evaluation.hyper += [[name, self.number(value)] for name, value in numbers.items()]
        outside = [(name, array) for name, array in arrays.items() if id(array) not in known and not self.tracer(array)]
        keys = [array for name, array in outside if self.keys.is_key(array, name)]
        if keys and not evaluation.keys:
            evaluation.keys = self.keys.drawn(keys)
        for name, array in outside:
            if not self.keys.is_key(array, name):
                evaluation.batch.append([name, self.prints.of(array)])
                if not evaluation.arrays or len(evaluation.arrays[0]) == len(array):
                    evaluation.arrays.append(array)

    def _is_users(self, code: Any) -> bool:
        return bool(self.deep._user_file(code.co_filename))

    def number(self, leaf: Any) -> Dict[str, Any]:
        """A number as a hyper-parameter stands in the trace."""
        if self.tracer(leaf):
            return {"h": "", "d": "traced"}
        if self.prints.is_array(leaf) and leaf.dtype.kind in "fiub" and not getattr(leaf, "ndim", 0):
            leaf = self.prints.host(leaf).item()
        found: Dict[str, Any] = self.prints.of(leaf)
        return found

    def tracer(self, leaf: Any) -> bool:
        """Whether a leaf stands for an array while a program is traced."""
        return isinstance(leaf, self.jax.core.Tracer)

    def leaves(self, value: Any) -> List[List[Any]]:
        """The leaves of a result with their paths."""
        return [[self.jax.tree_util.keystr(path), self.prints.of(leaf)] for path, leaf in flat(self.jax, value)]


def _updates(evaluation: Evaluation, following: Optional[Evaluation]) -> Named:
    """Weights and states after an evaluation, from its results or from the arguments of the next one of the same function."""
    if evaluation.updates is not None:
        return evaluation.updates
    if following is None:
        return []
    names = {name for name, _ in evaluation.weights}
    found = [(name, leaf) for name, leaf in following.weights if name in names]
    if following.owner is evaluation.owner and following.owner is not None:
        following.decide()
        names = {name for name, _ in evaluation.states}
        found += [(name, leaf) for name, leaf in following.states if name in names]
    return found


def _leaf(value: float, dtype: str) -> Dict[str, Any]:
    return {"h": float(value).hex(), "d": dtype, "s": [], "v": [value if value - value == 0 else repr(value)]}
