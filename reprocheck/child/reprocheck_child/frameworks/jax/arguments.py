"""Which arguments of a call are differentiated."""

from typing import Any, List


def positions(argnums: Any, count: int) -> List[int]:
    """Return the places of the arguments that are differentiated, of a call with `count` of them:
    those that are there.
    """
    if not isinstance(argnums, (tuple, list)):
        argnums = (argnums,)
    return [number % count for number in argnums if -count <= number < count]
