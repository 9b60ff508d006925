"""What the gradient of a step is taken of."""

from typing import Any, Tuple


class AsItIs:
    """Each step is given what the script gives it."""

    def instead(self, args: Tuple[Any, ...]) -> Tuple[Any, ...]:
        """Return the arguments of the forward half."""
        return args

    def same(self, args: Tuple[Any, ...]) -> Tuple[Any, ...]:
        """Return the arguments of the backward half."""
        return args
