"""Which batch of the continued run another one is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from reprocheck.resume.gap.batches import Data, first_gap, spots, taken
from reprocheck.resume.gap.evidence import BatchGap, Counts, GeneratorGap, SeedSet, Spot
from reprocheck.resume.gap.mechanisms import name_of
from reprocheck.resume.gap.sentences import detail
from reprocheck.trace.deep import Leaf, Seen

BATCHES, SIZE = 4, 2
"""Batches of an epoch, and samples of each."""
Order = Sequence[int]


def order(epoch: int) -> Order:
    """Another order of the same samples in each epoch."""
    return [(number * 3 + epoch) % (BATCHES * SIZE) for number in range(BATCHES * SIZE)]


def epoch_fact(indices: Order, iteration: int, **keys: object) -> Seen:
    return Seen(
        kind="epoch", place="DataLoader[0]", iteration=iteration, indices=list(indices), **keys
    )


def step(indices: Order, iteration: int) -> list[Seen]:
    """A batch is handed out, a module is given it, and a loss follows."""
    leaves = [("0", Leaf(hash=f"x{tuple(indices)}", shape=(SIZE, 3)))]
    return [
        Seen(
            kind="batch",
            place="DataLoader[0]",
            iteration=iteration,
            indices=list(indices),
            samples=[f"s{index}" for index in indices],
            outputs=leaves,
        ),
        Seen(kind="call", place="", iteration=iteration, inputs=leaves),
        Seen(kind="loss", place="loss", iteration=iteration),
    ]


def walk(orders: Sequence[Order], start: int = 0, iteration: int = 1) -> list[Seen]:
    """The facts of a run that goes through some orders, in the first from batch `start` on."""
    facts: list[Seen] = []
    for one in orders:
        facts.append(epoch_fact(one, iteration))
        for position in range(start, len(one) // SIZE):
            facts += step(one[position * SIZE : (position + 1) * SIZE], iteration)
            iteration += 1
        start = 0
    return facts


def passed_over(first: Order, used: int, orders: Sequence[Order]) -> list[Seen]:
    """A run that fetches the batches of its first order that were used, and drops them."""
    facts = [epoch_fact(first, 1)]
    for position in range(used):
        facts += step(first[position * SIZE : (position + 1) * SIZE], 1)[:1]
    rest = walk([first], used)[1:]
    return [*facts, *rest, *walk(orders, iteration=BATCHES - used + 1)]


CONTINUED = walk([order(0), order(1), order(2)])


def gap_of(resumed: Sequence[Seen], k: int, unrestored: Sequence[str] = ()) -> BatchGap | None:
    return first_gap(Data(taken(CONTINUED), taken(resumed), k), unrestored)


def test_the_batches_that_were_due_are_no_gap() -> None:
    assert gap_of(passed_over(order(1), 2, [order(2)]), k=BATCHES + 2) is None


def test_the_first_batch_again_is_a_position_that_was_ignored() -> None:
    gap = gap_of(walk([order(0), order(1)]), k=2)
    assert gap is not None
    assert gap.expected == Spot(3, 0, 2) and gap.found == Spot(1, 0, 0)
    assert gap.counts == Counts(4, 4, 4)
    assert name_of(gap) == "resume-loader-position"


def test_the_order_of_epoch_0_in_a_later_epoch_is_named() -> None:
    gap = gap_of(passed_over(order(0), 2, []), k=BATCHES + 2)
    assert gap is not None and gap.first_epoch and gap.found == Spot(3, 0, 2)
    assert name_of(gap) == "resume-first-order"


def test_a_whole_epoch_in_the_order_of_epoch_0_is_no_position_that_was_ignored() -> None:
    gap = gap_of(walk([order(0)]), k=BATCHES)
    assert gap is not None and gap.expected == Spot(5, 1, 0)
    assert name_of(gap) == "resume-first-order"


def test_another_order_from_the_same_position_was_drawn_again() -> None:
    other = list(reversed(order(0)))
    gap = gap_of(passed_over(other, 1, []), k=1)
    assert gap is not None and gap.same_order is False
    assert name_of(gap) == "resume-redrawn-order"


def test_an_order_drawn_from_a_generator_that_was_not_put_back_is_told_from_that() -> None:
    drawn = [epoch_fact(order(5), 1, after={"torch": "t"}), *walk([order(5)])[1:]]
    gap = gap_of(drawn, k=BATCHES, unrestored=["torch"])
    assert gap is not None and gap.drawn_from == ("torch",)
    assert name_of(gap) == "resume-rng-not-restored"


def test_a_generator_of_the_loader_that_stands_as_at_the_checkpoint_was_put_back() -> None:
    def drawn(indices: Order, state: str) -> list[Seen]:
        return [epoch_fact(indices, 1, private={"generator": state}), *walk([indices])[1:]]

    continued, resumed = taken(drawn(order(0), "first")), taken(drawn(order(5), "second"))
    gap = first_gap(Data(continued, resumed, 1, private={"second"}))
    assert gap is not None and not gap.unrestored
    assert gap.of_its_own == ("DataLoader[0] generator",)
    assert name_of(replace(gap, position=1)) == "resume-redrawn-order"
    assert "that the loader's own generator had at the checkpoint" in detail(gap)
    elsewhere = first_gap(Data(continued, resumed, 1, private={"third"}))
    assert elsewhere is not None and elsewhere.unrestored == ("DataLoader[0] generator",)
    assert name_of(replace(elsewhere, position=1)) == "resume-rng-not-restored"


def test_an_order_tells_what_was_done_to_the_generator_it_was_drawn_from() -> None:
    drawn = [epoch_fact(order(5), 1, after={"torch": "t"}), *walk([order(5)])[1:]]
    gap = gap_of(drawn, k=BATCHES)
    assert gap is not None and gap.expected.position == 0
    consumed = GeneratorGap(name="torch", restored=True, line="train.py:9", ahead=2)
    assert name_of(replace(gap, order_from=consumed)) == "resume-rng-consumed"
    seeded = replace(consumed, reseeded=SeedSet(seed=0))
    assert name_of(replace(gap, order_from=seeded)) == "resume-rng-reseeded"
    said = detail(replace(gap, order_from=consumed))
    assert said.endswith("is one 64-bit draw ahead, and the order was drawn from it")


def test_batches_that_were_left_out_were_in_flight() -> None:
    gap = gap_of(walk([order(0)], start=3), k=1)
    assert gap is not None and gap.found == Spot(4, 0, 3)
    assert name_of(gap) == "resume-samples-in-flight"


def test_an_epoch_that_was_left_out_is_named() -> None:
    gap = gap_of(walk([order(2)]), k=BATCHES)
    assert gap is not None and gap.found == Spot(9, 2, 0)
    assert name_of(gap) == "resume-epoch-skipped"


def test_the_rest_of_an_epoch_that_was_left_out_is_told_from_what_was_in_flight() -> None:
    gap = gap_of(walk([order(1)]), k=2)
    assert gap is not None and gap.found == Spot(5, 1, 0)
    assert name_of(gap) == "resume-epoch-skipped"
    fetched = gap_of([epoch_fact(order(0), 1), *walk([order(1)])], k=BATCHES - 1)
    assert fetched is not None and fetched.found == Spot(5, 1, 0)
    assert name_of(fetched) == "resume-samples-in-flight"


def test_a_sampler_that_gives_the_rest_of_its_order_alone_stands_behind_what_it_left_out() -> None:
    rest = gap_of(walk([order(0)[2 * SIZE :]]), k=BATCHES + 2)
    assert rest is not None and rest.found == Spot(3, 0, 2)
    assert (rest.position, name_of(rest)) == (2, "resume-first-order")
    other = gap_of(walk([[0, 7, 1, 3]]), k=2)
    assert other is not None and other.found is None
    assert (other.position, name_of(other)) == (2, "resume-redrawn-order")


def test_an_offset_in_the_epoch_after_is_named() -> None:
    resumed = [*walk([order(0)], start=2), *walk([order(1)], start=2, iteration=3)]
    gap = gap_of(resumed, k=2)
    assert gap is not None and gap.iteration == 3 and gap.later_pass
    assert name_of(gap) == "resume-offset-again"


def test_batches_that_are_fetched_ahead_are_those_of_the_iteration_that_uses_them() -> None:
    facts = walk([order(0)])
    batches = [fact for fact in facts if fact.kind == "batch"]
    rest = [fact for fact in facts if fact.kind in ("call", "loss")]
    ahead = [facts[0], *batches[:2], *rest[:2], batches[2], *rest[2:4], batches[3], *rest[4:]]
    assert [batch.fact for batch in taken(ahead)] == batches


def test_a_validation_is_no_batch_of_the_training() -> None:
    facts = walk([order(0)])
    validation = Seen(
        kind="batch", place="DataLoader[1]", iteration=2, outputs=[("0", Leaf(hash="v"))]
    )
    used = taken([*facts[:4], validation, *facts[4:]])
    assert all(batch.fact.place == "DataLoader[0]" for batch in used) and len(used) == BATCHES


def test_epochs_of_a_loop_without_a_loader_are_known_by_samples_that_come_again() -> None:
    facts = [fact for fact in CONTINUED if fact.kind != "epoch"]
    again = [fact for fact in walk([order(1)]) if fact.kind != "epoch"]
    gap = first_gap(Data(taken(facts), taken(again), BATCHES + 2))
    assert gap is not None
    assert gap.expected == Spot(7, 1, 2) and gap.found == Spot(5, 1, 0)
    assert name_of(gap) == "resume-loader-position"


def test_what_is_drawn_from_a_buffer_that_grows_has_no_epochs_and_no_order() -> None:
    def drawn(iteration: int, shift: int) -> list[Seen]:
        newest = iteration + 3 + shift
        return [fact for fact in step([newest, newest - 1], iteration) if fact.kind != "epoch"]

    continued = [fact for iteration in range(1, 13) for fact in drawn(iteration, 0)]
    resumed = [fact for iteration in range(1, 5) for fact in drawn(iteration, 50)]
    gap = first_gap(Data(taken(continued), taken(resumed), 6))
    assert gap is not None and gap.strange
    assert gap.expected == Spot(7) and gap.counts == Counts()
    assert name_of(gap) == "resume-samples-in-flight"  # what it held is lost


def test_loaders_that_a_line_makes_anew_are_epochs_of_one_training() -> None:
    facts: list[Seen] = []
    for epoch in range(3):
        iteration = epoch * BATCHES + 1
        held_out = replace_place(epoch_fact(order(0), iteration, line="train.py:4"), "Loader[9]")
        for fact in walk([order(epoch)], iteration=iteration):
            made = replace_place(fact, f"DataLoader[{epoch}]") if fact.kind != "call" else fact
            if fact.kind == "epoch":
                made = msgspec.structs.replace(made, line="train.py:4")
            facts.append(made)
        facts.append(held_out)  # a validation in the same function, which is no epoch
    where = spots(taken(facts))
    assert [spot.epoch for spot in where.values()] == [0] * BATCHES + [1] * BATCHES + [2] * BATCHES


def replace_place(fact: Seen, place: str) -> Seen:
    return msgspec.structs.replace(fact, place=place)
