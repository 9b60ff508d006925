"""What is said of weights."""

from __future__ import annotations

from reprocheck.language import tr


def other_sizes(shapes: tuple[tuple[int, ...], tuple[int, ...]] | None) -> str:
    """`have 8×1 elements in run 1 and 16×1 in run 2`; "" where they have as many."""
    if shapes is None:
        return ""
    one, other = ("×".join(map(str, shape)) or "1" for shape in shapes)
    return tr("have {one} elements in run 1 and {other} in run 2", one=one, other=other)
