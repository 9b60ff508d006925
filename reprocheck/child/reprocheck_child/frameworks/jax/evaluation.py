"""One evaluation of a value and its gradient, from its arguments to its last loss."""

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ...deep_levels import leaves
from ...host.facts import of_samples
from ...host.fingerprint import Fingerprint, Rows

Named = List[Tuple[str, Fingerprint]]
Loss = Tuple[List[float], str, Optional[bool]]
"""Values, their dtype, whether the weights changed since the loss before (None: not looked at)."""
Leaf = Tuple[str, Any]
Values = Dict[str, Any]
OF_OPTIMIZER: Dict[str, Any] = {"o": 0}


class Argument:
    """A leaf of the arguments of a call.

    Its `kind` is `key` (a JAX PRNG key), `array`, `number` or "" for anything else.
    """

    def __init__(self, name: str, kind: str, found: Fingerprint, rows: Sequence[Rows] = ()) -> None:
        self.name, self.kind, self.found = name, kind, found
        self.rows = rows
        """The samples of an array: at most one."""
        self.line = ""
        self.state = {"b": True}
        """What it is where it is carried: see the facts of the kind `held`."""
        self.weight = self.carried = False
        """Whether it is differentiated, and whether the results hold it for the next call."""


class Evaluation:
    """The facts about one evaluation of a value and its gradient.

    A call of a compiled function may hold several, one after the other: see `losses`.
    """

    def __init__(self, name: str, owner: Any = None) -> None:
        self.name = name
        self.owner = owner
        """The compiled function that is called; None where the evaluation is not compiled."""
        self.weights: Named = []
        self.states: Named = []
        """What is no weight and carried from call to call, such as the state of an optimizer."""
        self.lines: Dict[str, str] = {}
        """Name of a weight or state -> the line that made it, "" where that is not known."""
        self.hyper: List[List[Any]] = []
        self.batch: List[List[Any]] = []
        self.rows: List[Rows] = []
        """The samples of the arrays of the batch."""
        self.drawn: Dict[str, Dict[str, str]] = {}
        """Generators of the script's that moved before it, as `g` and `g2`: what the batch was
        drawn from.
        """
        self.keys: Dict[str, Dict[str, str]] = {}
        """Keys that it is given, likewise."""
        self.copies = 1
        """How many times an array among these keys holds one key."""
        self.generators: Dict[str, str] = {}
        """Where the default generators stand before it."""
        self.made: Dict[str, str] = {}
        """What keys were made from before it, by the line that made them."""
        self.losses: List[Loss] = []
        self.gradients: Named = []
        self.results: List[List[Any]] = []
        self.after: Named = []
        """Weights and states as it returns them."""
        self.known = False
        """Whether these are what the next evaluation is given."""
        self.decide: Optional[Callable[[], None]] = None
        """Tells batch, states and hyper-parameters apart; called at the latest when the facts are
        written.
        """
        self.marked = False
        """Whether what the training holds before it is asked for, see `boundary`."""
        self.kinds: Dict[str, Dict[str, Any]] = {}
        """Name of a state -> whether it is an optimizer's."""
        self.given: Dict[str, Any] = {}
        """Its arguments as values by their names, where they are kept."""
        self.arguments: Sequence[Argument] = ()
        self.begun = False
        self.ended = False
        self.said = 0
        """Losses that were written."""

    def decided(self) -> None:
        """Decide which arguments are batch, states and hyper-parameters if it was left open."""
        decide, self.decide = self.decide, None
        if decide is not None:
            decide()

    def from_outside(self, numbers: List[List[Any]], arrays: List[Argument]) -> None:
        """Add numbers and arrays that the function reads from globals or outer functions."""
        self.hyper += numbers
        self.batch += [[argument.name, argument.found] for argument in arrays]
        if not self.rows:
            for argument in arrays:
                self.rows += argument.rows

    def samples(self) -> Dict[str, Any]:
        """Return the fact key `n`, hashes of the samples of the batch; {} without samples."""
        return of_samples(leaves.samples(self.rows))


class Unkept:
    """The stand-in for kept values in a run that replaces none: a step gets its own arguments."""

    def __init__(self, jax: Any) -> None:
        self.jax = jax

    def read(self, leaves: Sequence[Leaf]) -> Values:
        """Return {}: no values of arguments are kept."""
        return {}

    def keep(self, evaluation: Evaluation) -> None:
        """Do nothing with a step that is written down."""

    def instead(self, title: str, given: Any, leaves: Sequence[Leaf]) -> Any:
        """Return the arguments that the script gives, unchanged."""
        return given

    def state(self, leaves: Sequence[Leaf]) -> Values:
        """Return {}: nothing replaces the state of an optimizer."""
        return {}

    def replaced(self, value: Any, leaves: Sequence[Leaf], replacements: Values) -> Any:
        """Return a pytree in which the leaves named in `replacements` are replaced."""
        if not replacements:
            return value
        values = [replacements.get(name, leaf) for name, leaf in leaves]
        return self.jax.tree_util.tree_unflatten(self.jax.tree_util.tree_structure(value), values)


def positions(argnums: Any, count: int) -> List[int]:
    """Return the indices of the differentiated arguments of a call with `count` arguments.

    Indices beyond `count` are left out.
    """
    if not isinstance(argnums, (tuple, list)):
        argnums = (argnums,)
    return [number % count for number in argnums if -count <= number < count]
