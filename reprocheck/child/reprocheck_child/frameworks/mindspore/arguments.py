"""The arguments by which the gradient of a step is taken."""

from typing import Any, Tuple


class AsItIs:
    """Gives each step what the script gives it."""

    def instead(self, args: Tuple[Any, ...]) -> Tuple[Any, ...]:
        """Return the arguments of the forward half."""
        return args

    def same(self, args: Tuple[Any, ...]) -> Tuple[Any, ...]:
        """Return the arguments of the backward half."""
        return args
