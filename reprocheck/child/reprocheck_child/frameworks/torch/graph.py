"""Walks the graph that a backward pass will go through, without changing it.

Its nodes are objects of C++ with a few attributes for Python, some of them private: `_sequence_nr`
numbers the nodes of a thread in the order in which the forward made them, `variable` of an
`AccumulateGrad` is the leaf whose gradient it adds to.
"""

from collections import deque
from typing import Any, Callable, Iterable, Iterator, List


class Walk:
    """A walk over the autograd nodes behind `roots`, each once, the nearest first.

    At most `most` nodes are visited; `cut` is True afterwards if there were more.

    `counts(node)` says whether a node is included; the walk does not go on behind a node that is
    not.
    """

    def __init__(
        self,
        roots: Iterable[Any],
        most: int,
        counts: Callable[[Any], bool] = lambda node: True,
    ) -> None:
        self.roots = roots
        self.most = most
        self.counts = counts
        self.cut = False

    def __iter__(self) -> Iterator[Any]:
        # a root may be a leaf itself, or no tensor at all where the script passes a wrong one
        functions = [getattr(root, "grad_fn", None) for root in self.roots]
        waiting = deque([node for node in functions if node is not None])
        known = {None, *waiting}  # an input that needs no gradient has None in its place
        while waiting:
            node = waiting.popleft()
            if not self.counts(node):
                continue
            yield node
            if len(known) > self.most:
                self.cut = True
                return
            for follower, _ in node.next_functions:
                if follower not in known:
                    known.add(follower)
                    waiting.append(follower)


def graph_leaves(roots: Iterable[Any], tensor: Any, most: int) -> List[Any]:
    """Return the leaf tensors of the graph of `roots`, each once, in the order of a walk.

    The walk visits at most `most` nodes.
    """
    variables = [getattr(node, "variable", None) for node in Walk(roots, most)]
    return [variable for variable in variables if isinstance(variable, tensor)]
