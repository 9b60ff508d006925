"""The grouping of events into iterations, written as short stories of what a script does."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given, strategies as st

from reprocheck.child.reprocheck_child.shared.iterations import COUNTED_FROM_HERE, IGNORED, Grouping


def tell(story: str) -> tuple[Grouping, list[int]]:
    """Feed a story: `new0` builds an optimizer, `b` `g` `l` are a loss of backward, autograd.grad
    and log_loss (`b@t` of a thread), `u0` an update nobody looked at, `u0+` one that changed
    weights, `u0-` one that did not; `moved`, `still`, `skip`, `end`. Returns the grouping and the
    numbers (from 1, over all losses told) of the losses that count.
    """
    grouping, kept, told = Grouping(), [], 0
    for word in story.split():
        name, _, thread = word.partition("@")
        if name in "bgl":
            told += 1
            answer = grouping.loss(1, {"b": "backward", "g": "grad", "l": "log"}[name], thread)
            if answer == COUNTED_FROM_HERE:
                kept.clear()
            if answer != IGNORED:
                kept.append(told)
        elif name.startswith("new"):
            grouping.optimizer(int(name[3:]))
        elif name.startswith("u"):
            grouping.update(int(name.strip("u+-")), {"+": True, "-": False}.get(name[-1]))
        else:
            {
                "moved": grouping.moved,
                "still": grouping.still,
                "skip": grouping.skip,
                "end": grouping.finish,
            }[name]()
        assert grouping.losses == len(kept)
    return grouping, kept


def iterations(story: str) -> list[list[int]]:
    """The losses of each iteration, by the number at which they were told, after the end of the
    trace.
    """
    grouping, kept = tell(story + " end")
    starts = [0, *grouping.ends]
    return [kept[start:end] for start, end in zip(starts, grouping.ends, strict=False)]


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        pytest.param("new0 b u0 b u0 b u0", [[1], [2], [3]], id="plain loop"),
        pytest.param("new0 b b b b u0 b b b b u0", [[1, 2, 3, 4], [5, 6, 7, 8]], id="accumulation"),
        pytest.param("new0 b b u0 b", [[1, 2], [3]], id="losses left at the end"),
        pytest.param("new0 new1 b b u0 b u1 b b u0 b u1", [[1, 2, 3], [4, 5, 6]], id="gan"),
        pytest.param("b b b", [[1], [2], [3]], id="no optimizer"),
        pytest.param("g g g", [[1], [2], [3]], id="autograd.grad alone counts"),
        pytest.param("g b g b", [[2], [4]], id="autograd.grad beside backward does not"),
        pytest.param("new0 g g b u0 g b u0", [[3], [5]], id="gradient penalty"),
        pytest.param(
            "new0 b b b b u0 b b b b u0", [[1, 2, 3, 4], [5, 6, 7, 8]], id="l-bfgs closures"
        ),
        pytest.param("new0 b skip b u0 b u0", [[1, 2], [3]], id="a skipped step goes on"),
        pytest.param(
            "new0 new1 b u0 b u0 b u0",
            [[1], [2], [3]],
            id="an optimizer that never steps is left behind",
        ),
        pytest.param(
            "new0 b u0 b u0 new1 b u1 b u1 b u1",
            [[1], [2], [3], [4], [5]],
            id="a second phase with an optimizer of its own",
        ),
        pytest.param(
            "new0 b u0 new1 b u1 new2 b u2 new3 b u3",
            [[1], [2], [3], [4]],
            id="a new optimizer each iteration",
        ),
        pytest.param(
            "new0 new1 b u0 b u1 new2 new3 b u2 b u3 new4 new5 b u4 b u5",
            [[1, 2], [3, 4], [5, 6]],
            id="a new pair of optimizers each iteration",
        ),
        pytest.param(
            "b b new0 b u0 b u0", [[1], [2], [3], [4]], id="by hand first, then an optimizer"
        ),
        pytest.param(
            "g g new0 b u0 b u0",
            [[3], [4]],
            id="gradients before the first backward are no iterations",
        ),
        pytest.param("u0 b u0", [[], [1]], id="an update without a loss"),
        pytest.param(
            "b b u0 b b u0", [[1, 2], [3, 4]], id="an optimizer that nobody saw being built"
        ),
        pytest.param(
            "b moved b u0 b u0",
            [[1], [2], [], [3]],
            id="by hand first, then an optimizer that nobody saw being built",
        ),
        pytest.param("new0 l b u0 l b u0", [[1], [3]], id="log_loss before backward"),
        pytest.param("new0 b l u0 b l u0", [[2], [4]], id="log_loss before the update"),
        pytest.param("new0 b u0 l b u0 l b u0 l", [[2], [4], [6]], id="log_loss after the update"),
        pytest.param(
            "new0 b b u0 l b b u0 l", [[3], [6]], id="log_loss after an accumulated update"
        ),
        pytest.param(
            "u0 l u0 l u0 l", [[1], [2], [3]], id="log_loss after the update, backward unseen"
        ),
        pytest.param(
            "new0 new1 b u0 l b u1 l b u0 l b u1 l",
            [[2, 4], [6, 8]],
            id="log_loss after each update of a gan",
        ),
        pytest.param(
            "new0 new1 b u0 b u1 l l b u0 b u1 l l",
            [[3, 4], [7, 8]],
            id="log_loss at the end of each gan iteration",
        ),
        pytest.param("l l l", [[1], [2], [3]], id="log_loss alone"),
        pytest.param("b l b l", [[2], [4]], id="log_loss without an optimizer"),
        pytest.param("new0 b u0 b l u0", [[], [3]], id="log_loss from iteration 2 on"),
        pytest.param("new0", [], id="nothing trained"),
        pytest.param("", [], id="nothing at all"),
    ],
)
def test_iterations(story: str, expected: list[list[int]]) -> None:
    assert iterations(story) == expected


def test_wgan_of_three_critic_steps_has_ten_iterations() -> None:
    story = "new0 new1 " + "b u1 b u1 b u1 b u0 " * 3
    assert iterations(story) == [[1], [2], [3], [4, 5], [6], [7], [8, 9], [10], [11], [12]]
    assert tell(story)[0].closed == 9  # the last one only closes with the trace


@pytest.mark.parametrize(
    ("story", "first_end", "moved_at", "moved_in"),
    [
        pytest.param("new0 b u0+ b u0", 1, 1, 1, id="plain loop"),
        pytest.param("new0 new1 b b u0+ b u1+ b b u0 b u1", 2, 2, 1, id="gan"),
        pytest.param(
            "new0 new1 b u0- b u1+ b u0 b u1", 1, 2, 1, id="gan whose first update changes nothing"
        ),
        pytest.param(
            "new0 b moved b b b u0+ b b", 1, 1, 1, id="l-bfgs changes weights inside its step"
        ),
        pytest.param("new0 b u0- b u0+ b u0", 1, 2, 2, id="learning rate 0 in iteration 1"),
        pytest.param("new0 b b u0- b b u0+ b b u0", 2, 4, 2, id="warm-up and accumulation"),
        pytest.param(
            "new0 b u0- moved b u0 b u0",
            1,
            1,
            1,
            id="weights changed by hand after an update that did nothing",
        ),
        pytest.param("new0 b u0- b u0-", 1, None, None, id="frozen weights"),
        pytest.param("new0 b u0 b u0", 1, 1, 1, id="nobody looked"),
        pytest.param("moved new0 b u0- moved b u0", 1, 1, 1, id="loading weights is no update"),
        pytest.param("b moved b moved b", 1, 1, 1, id="by hand"),
        pytest.param("b still b moved b", 1, 2, 2, id="by hand, unchanged at first"),
        pytest.param("b b b", 1, 1, 1, id="by hand, nobody looked"),
        pytest.param("new0 b skip b u0+ b u0", 2, 2, 1, id="skipped step"),
        pytest.param("new0 b u0+ l b u0 l", 1, 1, 1, id="log_loss after the update"),
        pytest.param(
            "new0 b u0- l b u0+ l b u0 l",
            1,
            2,
            2,
            id="log_loss after the update, unchanged at first",
        ),
        pytest.param(
            "new0 new1 b u0+ b u1+ l l b u0 b u1 l l",
            2,
            2,
            1,
            id="log_loss at the end of a gan iteration",
        ),
        pytest.param("new0 b l u0+ b l u0", 1, 1, 1, id="log_loss before the update"),
        pytest.param("new0 b u0+ b l u0", 0, 0, 1, id="log_loss too late"),
        pytest.param("g g moved g new0 b u0+ b u0", 1, 1, 1, id="forgotten gradients"),
    ],
)
def test_first_update_and_first_real_change(
    story: str, first_end: int, moved_at: int | None, moved_in: int | None
) -> None:
    grouping, _ = tell(story + " end")
    assert (grouping.first_end, grouping.moved_at, grouping.moved_in) == (
        first_end,
        moved_at,
        moved_in,
    )


def test_unchanged_updates_are_counted_until_weights_change() -> None:
    assert tell("new0 b u0- b u0- b u0+ b u0- end")[0].unchanged_updates == 2
    assert tell("new0 b u0- l b u0+ l end")[0].unchanged_updates == 1


def test_backward_passes_of_the_same_weights_are_not_said_to_be_updates() -> None:
    told = tell("b still b still b end")[0]
    assert (told.unchanged_passes, told.unchanged_updates) == (2, 0)


def test_weights_seen() -> None:
    assert not tell("new0 b u0 end")[0].weights_seen
    assert tell("new0 b u0- end")[0].weights_seen
    assert tell("b still end")[0].weights_seen


def test_skips_are_marked_once_an_iteration() -> None:
    assert tell("new0 b skip b skip b u0 b u0 b skip b u0")[0].skipped == [1, 3]


def test_losses_of_several_threads_mark_their_iteration_only() -> None:
    assert tell("new0 b@x b@y u0 b@x u0 b@x u0 b@y b u0 end")[0].unordered == [1, 4]
    assert tell("new0 new1 b@x u0 b@y u0 b@y u0 end")[0].unordered == []
    assert tell("new0 b@x b@y l u0 end")[0].unordered == []


def test_log_loss_after_the_update_closes_when_the_next_iteration_begins() -> None:
    assert tell("new0 b u0 l")[0].closed == 0
    assert tell("new0 b u0 l b")[0].closed == 1


def test_unfinished() -> None:
    assert not tell("new0 b u0 b u0 end")[0].unfinished
    assert tell("new0 b u0 b end")[0].unfinished
    assert tell("new0 new1 b u0 end")[0].unfinished
    assert not tell("b b end")[0].unfinished


def test_several_losses_at_once_and_unknown_kinds() -> None:
    grouping = Grouping()
    assert grouping.loss(3, "backward") and not grouping.loss(1, "from the future")
    grouping.update(0, True)
    assert grouping.ends == array("q", [3])


_VOCABULARY = (
    "new0",
    "new1",
    "new2",
    "b",
    "b@x",
    "g",
    "l",
    "u0",
    "u1",
    "u2",
    "u0+",
    "u1-",
    "moved",
    "still",
    "skip",
)
_words = st.lists(st.sampled_from(_VOCABULARY), max_size=40)


@given(_words)
def test_any_story_gives_sound_iterations(words: list[str]) -> None:
    grouping, kept = tell(" ".join([*words, "end"]))
    ends = list(grouping.ends)
    assert ends == sorted(ends)
    assert (ends[-1] if ends else 0) <= len(kept)
    assert grouping.first_end is None or 0 <= grouping.first_end <= len(kept)
    if grouping.moved_at is not None:
        assert grouping.moved_in is not None and grouping.moved_in >= 1
        assert grouping.first_end is not None and grouping.first_end <= grouping.moved_at


@given(
    _words.filter(
        lambda words: "l" not in words and not ("g" in words and {"b", "b@x"} & set(words))
    ),
    st.integers(0, 40),
)
def test_closed_iterations_of_a_prefix_are_a_prefix(words: list[str], length: int) -> None:
    whole = list(tell(" ".join(["new0", *words]))[0].ends)
    part = list(tell(" ".join(["new0", *words[:length]]))[0].ends)
    assert whole[: len(part)] == part
