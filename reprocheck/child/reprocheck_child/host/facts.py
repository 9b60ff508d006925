"""Writes the facts of every adapter: first values of weights, batches, gradients and updates.

The adapter of the framework decides what weights are called, and when they are looked at.
"""

import weakref
from typing import Any, Dict, Iterable, List, Optional, Tuple

from .fingerprint import Fingerprints

LIMIT = 200_000
"""Weights of which is known where they were made."""
Birth = Tuple[Any, Dict[str, Any]]
"""A weak reference to a weight, and what a fact says of where it was made."""


class Facts:
    """The writer of facts on weights, batches, gradients and updates."""

    def __init__(self, deep: Any, prints: Fingerprints) -> None:
        self.deep = deep
        self.prints = prints
        self.births: Dict[int, Birth] = {}
        self._begun = False
        # what stands for a weight -> the hash of what an update left, until it is looked at again
        self._left: Dict[object, str] = {}

    def born(self, weight: Any, line: str, states: Dict[str, str], seeds: int) -> None:
        """Record where and from what a weight was made.

        `line` is the line of the script, `states` the generator states that its values were drawn
        from, `seeds` how many seeds were set before.
        """
        if len(self.births) >= LIMIT and id(weight) not in self.births:
            return
        birth: Dict[str, Any] = {"sn": seeds}
        if line:
            birth["l"] = line
        if states:
            birth["g"] = states
        self.births[id(weight)] = (weakref.ref(weight), birth)

    def birth(self, weight: Any) -> Dict[str, Any]:
        """Return where a weight was made, as keys of a fact; {} if that is not known."""
        reference, birth = self.births.get(id(weight), (None, {}))
        if reference is None or reference() is not weight:
            return {}
        return dict(birth)

    def first_value(self, name: str, weight: Any, birth: Dict[str, Any], buffer: bool) -> None:
        """Record a weight before its first update; no optimizer updates a `buffer`."""
        if buffer:
            birth["b"] = True
        out = [["", self.prints.of(weight)]]
        self.deep.seen("weights", name, call=False, out=out, **birth)

    def first_forward(self) -> None:
        """Record the states of generators at the very first forward pass; do nothing later."""
        if not self._begun:
            self._begun = True
            self.deep.seen("rng", "first forward", call=False, g=self.deep.rng())

    def written(self, key: object, name: str, weight: Any) -> None:
        """Record a weight, once after each update, if something has written to it since the update.

        `key` identifies the weight.
        """
        left = self._left.pop(key, None)
        if left is None:
            return
        now = self.prints.of(weight)
        if now.get("h") != left:
            self.deep.seen("written", name, out=[["", now]])

    def differentiated(self, losses: Iterable[Any]) -> None:
        """Record the value that is differentiated."""
        for loss in losses:
            self.deep.seen("root", "loss", out=[["", self.prints.of(loss)]])

    def gradients(
        self, kind: str, named: Iterable[Tuple[str, Any]], index: Optional[int] = None
    ) -> None:
        """Record gradients by the names of their weights, the last weight first.

        That is nearer to the order of the backward pass, which returns all gradients at once.
        """
        for name, gradient in reversed(list(named)):
            out = [["", self.prints.of(gradient)]]
            self.deep.seen(kind, name, out=out, **_of_optimizer(index))

    def updated(self, name: str, value: Any, index: Optional[int], key: object = None) -> None:
        """Record a weight or a state of an optimizer after an update.

        `key` identifies the weight.
        """
        fingerprint = self.prints.of(value)
        self.deep.seen("update", name, out=[["", fingerprint]], **_of_optimizer(index))
        if key is not None:
            self._left[key] = fingerprint.get("h", "")

    def batch(self, place: str, batch: Any, **states: Dict[str, str]) -> None:
        """Record a batch, as a whole and by sample, that a loader returned or a step was given.

        The states of the generators that the batch is drawn from are recorded, too.
        """
        samples = of_samples(self.prints.samples(batch))
        self.deep.seen("batch", place, out=self.prints.leaves(batch), **samples, **states)


def of_samples(hashes: Optional[List[str]]) -> Dict[str, Any]:
    """Return the fact key `n`: the hashes of a batch's samples; {} if there are none."""
    return {} if hashes is None else {"n": hashes}


class Places:
    """Names of data sets: their class and a number, such as `MapDataset[0]`.

    Data sets of a class are numbered in the order in which they are first used.
    """

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._counts: Dict[str, int] = {}

    def __contains__(self, dataset: Any) -> bool:
        return dataset in self._known

    def of(self, dataset: Any) -> str:
        """Return the name of a data set, such as `MapDataset[0]`."""
        known = self._known.get(dataset)
        if known is not None:
            return known
        name = type(dataset).__name__.lstrip("_")
        number = self._counts[name] = self._counts.get(name, -1) + 1
        place = self._known[dataset] = "%s[%d]" % (name, number)
        return place


def _of_optimizer(index: Optional[int]) -> Dict[str, Any]:
    return {} if index is None else {"o": index}
