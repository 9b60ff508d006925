"""Finds which arguments of a call are differentiated."""

from typing import Any, List


def positions(argnums: Any, count: int) -> List[int]:
    """Return the indices of the differentiated arguments of a call with `count` arguments.

    Indices beyond `count` are left out.
    """
    if not isinstance(argnums, (tuple, list)):
        argnums = (argnums,)
    return [number % count for number in argnums if -count <= number < count]
