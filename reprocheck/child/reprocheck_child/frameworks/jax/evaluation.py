"""One evaluation of a value and its gradient as the deeper levels see it, from its arguments to the loss that closes the iteration."""

from typing import Any, Callable, Dict, List, Optional, Tuple

Fingerprint = Dict[str, Any]
Named = List[Tuple[str, Fingerprint]]
Loss = Tuple[List[float], str, Optional[bool]]
"""Values, their dtype, whether the weights changed since the loss before (None: not looked at)."""


class Evaluation:
    """What is known of one evaluation. A call of a compiled function may hold several, one after the other: see `losses`."""

    def __init__(self, name: str, owner: Any = None) -> None:
        self.name = name
        self.owner = owner
        """The compiled function that is called; None where the evaluation is not compiled."""
        self.weights: Named = []
        self.states: Named = []
        """What is no weight and carried from call to call, such as the state of an optimizer."""
        self.hyper: List[List[Any]] = []
        self.batch: List[List[Any]] = []
        self.arrays: List[Any] = []
        """The arrays of the batch, until their samples are known."""
        self.samples: Optional[List[str]] = None
        self.drawn: Dict[str, Dict[str, str]] = {}
        """Generators of the script's that moved before it, as `g` and `g2`: what the batch was drawn from."""
        self.keys: Dict[str, Dict[str, str]] = {}
        """Keys that it is given, likewise."""
        self.generators: Dict[str, str] = {}
        self.losses: List[Loss] = []
        self.gradients: Named = []
        self.results: List[List[Any]] = []
        self.updates: Optional[Named] = None
        """Weights and states after it, once they are known."""
        self.decide: Callable[[], None] = _decided
        """Tells batch, states and hyper-parameters apart; called at the latest when the facts are written."""
        self.begun = False
        self.said = 0
        """Losses that were written."""


def _decided() -> None:
    """Nothing is open."""
