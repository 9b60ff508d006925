"""What a rung of the ladder across the gap shows, as typed values.

The mechanism and the sentences are made of it, last. Iterations are those of the resumed run unless
said otherwise; epochs and positions count from 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from reprocheck.model.statements.difference import FirstDifference

Content = Literal["initial", "another", "missing", "extra"]
"""What stands in the place of a value: the value that the continued run had before its first
update, another one, nothing, or something that the continued run does not have.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightsGap:
    """Weights or buffers that differ from those after update k.

    names     the weights that differ, in the order of the model
    initial   those of `names` that are as they were before the first update
    equal     how many weights agree
    loaded    files and modules that the resumed run loaded before it went on
    missing   keys that a module did not find in the loaded `state_dict`
    own       whether the weights are copies that objects of the script hold
    """

    names: tuple[str, ...]
    own: bool = False
    initial: tuple[str, ...] = ()
    equal: int = 0
    loaded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def all_initial(self) -> bool:
        """Return whether all weights are as they were before the first update."""
        return not self.equal and len(self.initial) == len(self.names)


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributeGap:
    """Tensors of modules that differ after update k, and that no `state_dict` holds.

    Plain attributes, and buffers that are not persistent.
    """

    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OptimizerGap:
    """States of an optimizer that differ from those after update k.

    names     `weight:state` of each state that differs
    content   what the resumed run has in place of these states
    index     the index of the optimizer that the first of `names` belongs to
    dtypes    the dtypes of the first of `names` in both runs, if they differ
    """

    names: tuple[str, ...]
    content: Content
    index: int = 0
    dtypes: tuple[str, str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduleGap:
    """A hyper-parameter, a scheduler or a loss scale differs.

    place     the optimizer, the scheduler or the scaler
    name      the name of the value that differs
    values    the values in both runs, if they are small
    own       whether an object of the script counts the value, next to copies of weights
    optimizer the index of the optimizer that the value belongs to; None if it belongs to none
    others    schedulers and scalers that differ, too
    """

    place: str
    name: str
    own: bool = False
    optimizer: int | None = None
    others: tuple[str, ...] = ()
    values: tuple[object, object] | None = None

    @property
    def each(self) -> list[ScheduleGap]:
        """Return a gap for each scheduler and scaler that differs."""
        return [self, *(replace(self, place=place, others=()) for place in self.others)]


@dataclass(frozen=True, kw_only=True, slots=True)
class AverageGap:
    """Averages of the weights, or their number, that differ from those after update k."""

    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CounterGap:
    """A number that the resumed run counts from the beginning again.

    name       a variable, or a key of the checkpoint
    values     the numbers in both runs
    key        the key under which the checkpoint holds the number
    iteration  the iteration of the resumed run after which its own checkpoint holds the second
               value; 0 if the variable has that value as the training goes on
    """

    name: str
    values: tuple[int, int]
    key: str = ""
    iteration: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedSet:
    """A seed that the resumed run set: its number, the line, and who set it.

    The number is None if it came from OS entropy.
    """

    seed: int | None
    line: str = ""
    by: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawer:
    """What draws from a generator: the kind of the recorded fact, its place, and its class.

    kind  `script` if the script itself draws
    """

    kind: str
    place: str = ""
    class_: str = ""


SCRIPT = Drawer(kind="script")


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratorGap:
    """A generator that is drawn from, and whose state differs from that of the continued run.

    ahead          draws of 32 bits by which the resumed run is ahead (negative: behind); None:
                   neither state follows from the other
    restored       whether a state was put back before the training went on; `line` is where, `by`
                   the library that did it
    reseeded       the seed that was set after a state was put back
    seed, since the seed that the resumed run set last, and the draws since then; None: unknown
    of_rank        the rank of the continued run whose state the generator was given
    ahead_of_rank  draws of 32 bits since that state
    drawn_by       what draws from the generator first
    """

    name: str
    drawn_by: Drawer | None = None
    ahead: int | None = None
    restored: bool = False
    line: str = ""
    by: str = ""
    reseeded: SeedSet | None = None
    seed: SeedSet | None = None
    since: int | None = None
    of_rank: int | None = None
    ahead_of_rank: int = 0


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a batch stands in the continued run; None: unknown.

    Its iteration, and the epoch with the position in it.
    """

    iteration: int | None = None
    epoch: int | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many samples of an epoch came.

    Of `of` samples, `twice` had been seen in the epoch before, and `never` more were due but did
    not come.
    """

    twice: int = 0
    never: int = 0
    of: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchGap:
    """A batch of the resumed run that is not the one which the continued run took.

    iteration       the iteration of the resumed run in which the batches first differ
    expected        where the batch that was due stands in the continued run
    found           where the batch that came stands there; None if the continued run has no such
                    batch
    position        the position of the batch in the resumed run's own pass over the data; None if
                    unknown
    first_pass      whether the pass is the first that the resumed run began
    first_epoch     whether the resumed run goes through the data in the order of epoch 0
    same_order      whether its pass has the order of the continued run's epoch; None if unknown
    drawn_from      default generators that the order of the pass was drawn from
    unrestored      default generators that the training draws from, whose state differed, and of
                    which no state was put back
    order_from      a generator of `drawn_from` that was put back and whose state differed, if the
                    pass begins here
    without_loader  whether no loader hands the batches out
    made_from       without a loader: a generator whose state differed, and that the script draws
                    from before each step
    may_be_drawn    without a loader: whether the state of a generator differed, known to be drawn
                    from or not
    of_its_own      generators of the loader's own that the order was drawn from, and that had the
                    state of the checkpoint: they were put back
    later_pass      whether the batch is not in the first pass of the resumed run
    content         whether the samples are those that were due, with other values
    line            the line of the script with which the resumed run walks through the data
    strange         whether the continued run took less than half of the samples of the
                    batch that came, at any time
    """

    iteration: int
    expected: Spot
    found: Spot | None = None
    position: int | None = None
    first_pass: bool = False
    first_epoch: bool = False
    same_order: bool | None = None
    drawn_from: tuple[str, ...] = ()
    unrestored: tuple[str, ...] = ()
    order_from: GeneratorGap | None = None
    of_its_own: tuple[str, ...] = ()
    later_pass: bool = False
    counts: Counts = Counts()
    without_loader: bool = False
    made_from: GeneratorGap | None = None
    may_be_drawn: bool = False
    content: bool = False
    line: str = ""
    strange: bool = False
    ended: bool = False
    """The resumed run ended by itself where the continued run went on."""
    passed_over: bool = False
    """Then: it took that batch from its loader, and did not train on it."""

    @property
    def is_passed_over_wrongly(self) -> bool:
        """Return whether the resumed run skips data wrongly: it does not begin at the start.

        The saved position is applied in another way than it was counted.
        """
        return bool(self.position) or self.later_pass or self.first_epoch or self.ended

    @property
    def generator(self) -> GeneratorGap | None:
        """The generator with another state that the batch or its order was drawn from."""
        if self.without_loader and self.unrestored and self.made_from is None:
            return GeneratorGap(name=self.unrestored[0])
        return self.made_from or self.order_from

    @property
    def came(self) -> Spot:
        """Return where the batch that came stands.

        An empty spot if the continued run has no such batch.
        """
        return self.found or Spot()

    @property
    def epochs_ahead(self) -> int:
        """Epochs by which the batch that came is ahead of the one that was due."""
        came, due = self.came.epoch, self.expected.epoch
        return 0 if came is None or due is None else came - due

    @property
    def batches_ahead(self) -> int:
        """Return by how many batches of its epoch the batch that came is ahead of the due one."""
        came, due = self.came.position, self.expected.position
        if came is None or due is None or self.came.epoch != self.expected.epoch:
            return 0
        return came - due

    @property
    def begins_the_next_epoch(self) -> bool:
        """Return whether the first batch of the next epoch came."""
        return self.epochs_ahead == 1 and self.came.position == 0

    @property
    def is_uneven(self) -> bool:
        """Return whether samples came twice or not at all."""
        return bool(self.counts.twice or self.counts.never)


@dataclass(frozen=True, kw_only=True, slots=True)
class SharesGap:
    """The samples of all ranks together that differ from those due, if the number of ranks changed.

    iteration     the first iteration of the resumed run whose samples differ
    ranks         how many ranks the continued and the resumed run have
    twice, never  of the `of` samples that came, those that had been used in the epoch before; and
                  how many that were due did not come
    """

    iteration: int
    ranks: tuple[int, int]
    of: int = 0
    twice: int = 0
    never: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class StepGap:
    """A difference from the forward pass on.

    The finding of the ladder for the shifted pair of runs.
    """

    place: str
    statement: FirstDifference


Gap = (
    WeightsGap
    | AttributeGap
    | AverageGap
    | OptimizerGap
    | ScheduleGap
    | CounterGap
    | GeneratorGap
    | BatchGap
    | SharesGap
    | StepGap
)
