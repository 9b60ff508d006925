"""Which threads train by themselves, and which are one training."""

from __future__ import annotations

from reprocheck.child.reprocheck_child.shared.trainings import MOST, Trainings


def found(*steps: tuple[str, int], losses: str = "abc") -> list[list[object]]:
    """The trainings of a process whose optimizers step in these threads."""
    trainings = Trainings()
    for thread in losses:
        trainings.loss(thread)
    for thread, optimizer in steps:
        trainings.update(thread, optimizer)
    return [sorted(one, key=str) for one in trainings.several()]


def test_what_shares_a_thread_or_an_optimizer_is_one_training() -> None:
    assert found(("a", 0), ("b", 1)) == [[0, "a"], [1, "b"]]
    assert found(("a", 0), ("a", 1), ("b", 2)) == [[0, 1, "a"], [2, "b"]]
    assert not found(("a", 0), ("b", 0))
    assert not found(("a", 0), ("b", 1), ("c", 0), ("c", 1))


def test_a_thread_without_losses_is_no_training() -> None:
    assert not found(("a", 0), ("b", 1), losses="a")
    assert found(("a", 0), ("b", 1), ("c", 2), losses="ab") == [[0, "a"], [1, "b"]]


def test_without_optimizers_each_thread_with_several_losses_is_a_training() -> None:
    assert found(losses="aabb") == [["a"], ["b"]]
    assert not found(losses="aab")
    assert not found(("a", 0), losses="aabb")


def test_more_trainings_than_are_told_apart_are_taken_as_one() -> None:
    threads = [chr(256 + number) for number in range(MOST + 1)]
    steps = [(thread, number) for number, thread in enumerate(threads)]
    assert len(found(*steps[:-1], losses="".join(threads))) == MOST
    assert not found(*steps, losses="".join(threads))
