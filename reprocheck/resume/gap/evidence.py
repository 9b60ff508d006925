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
    """Weights or buffers that are not those after update k.

    names     those that differ, in the order of the model
    initial   of these, those that are what they were before the first update
    equal     how many agree
    loaded    files and modules that the resumed run loaded before it went on
    missing   keys that a module did not find in what it was given
    own       whether objects of the script hold them: copies of weights
    """

    names: tuple[str, ...]
    own: bool = False
    initial: tuple[str, ...] = ()
    equal: int = 0
    loaded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def all_initial(self) -> bool:
        """Return whether nothing of the model is what it was at the checkpoint."""
        return not self.equal and len(self.initial) == len(self.names)


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributeGap:
    """Tensors of modules that are not those after update k, and that no `state_dict` holds: plain
    attributes, and buffers that are not persistent.
    """

    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OptimizerGap:
    """States of an optimizer that are not those after update k.

    names     `weight:state` of those that differ
    content   what stands in their place
    index     of the optimizer that the first of them belongs to
    dtypes    the types of the first of them in both runs, where they are not the same
    """

    names: tuple[str, ...]
    content: Content
    index: int = 0
    dtypes: tuple[str, str] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduleGap:
    """A hyper-parameter, a scheduler or a loss scale.

    place     the optimizer, the scheduler or the scaler
    name      the value that differs
    values    in both runs, where they are small
    own       whether an object of the script counts it, beside copies of weights
    optimizer  index of the optimizer whose value it is; None where it is none of an optimizer
    others     schedulers and scalers that are not what they were, either
    """

    place: str
    name: str
    own: bool = False
    optimizer: int | None = None
    others: tuple[str, ...] = ()
    values: tuple[object, object] | None = None

    @property
    def each(self) -> list[ScheduleGap]:
        """Return one gap for each of them."""
        return [self, *(replace(self, place=place, others=()) for place in self.others)]


@dataclass(frozen=True, kw_only=True, slots=True)
class AverageGap:
    """Averages of the weights, and how many weights they are of, that are not those after update
    k.
    """

    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CounterGap:
    """A number that the resumed run counts from the beginning again.

    name       a variable, or a key of the checkpoint
    values     in both runs
    key        under which the checkpoint holds it
    iteration  of the resumed run behind which its own checkpoint holds the second value; 0 where
               the variable does as the training goes on
    """

    name: str
    values: tuple[int, int]
    key: str = ""
    iteration: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class SeedSet:
    """A seed that the resumed run set: its number (None: from the system), its line, and who."""

    seed: int | None
    line: str = ""
    by: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawer:
    """What draws from a generator: the kind of fact that shows it, its place, and its class.

    kind  `script` of the script itself
    """

    kind: str
    place: str = ""
    class_: str = ""


SCRIPT = Drawer(kind="script")


@dataclass(frozen=True, kw_only=True, slots=True)
class GeneratorGap:
    """A generator that stands elsewhere than in the continued run, and is drawn from.

    ahead       draws of 32 bits that the resumed run is ahead (negative: behind); None: neither is
                in the other's future
    restored    a state was put back before the training went on; `line` is where, `by` the library
                that did it
    reseeded    the seed that was set after that
    seed, since the seed that the resumed run set last, and the draws since then; None: not known
    of_rank     the rank of the continued run whose state it was given
    ahead_of_rank  draws of 32 bits since then
    drawn_by    what draws from it first
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
    """Where a batch stands in the continued run: its iteration there, and the epoch with the
    position in it. None: not known.
    """

    iteration: int | None = None
    epoch: int | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Of `of` samples that came in an epoch, those that had been seen in it before; and how many
    that were due did not come.
    """

    twice: int = 0
    never: int = 0
    of: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchGap:
    """A batch that is not the one which the continued run took.

    iteration    of the resumed run in which it first differs
    expected     where the batch that was due stands
    found        where the one that came stands; None where the continued run has none such
    position     in the resumed run's own pass over the data; None where not known
    first_pass   that is the first pass that the resumed run began
    first_epoch  the resumed run goes through the data in the order of epoch 0
    same_order   its pass has the order of the continued run's epoch; None where not known
    drawn_from   default generators that its order was drawn from
    unrestored   default generators that the training draws from, that stood elsewhere, and of which
                 no state was put back
    order_from   of these, one that was put back and stood elsewhere; where the pass begins here.
    without_loader  no loader hands the batches out
    made_from    then: a generator that stood elsewhere, and that the script draws from in front of
                 each step
    may_be_drawn  then: a generator stood elsewhere, whether or not it is known to be drawn from
    of_its_own   generators of the loader's own that its order was drawn from, and that stood then
                 where they stood at the checkpoint: they were put back
    later_pass   it is not in the first pass of the resumed run
    content      the samples are those that were due, with other values
    line         of the script, where the resumed run walks through the data
    strange      the continued run took less than half of the samples, before or after
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
        """Return whether the resumed run begins elsewhere than at the beginning of its data.

        What it goes by was saved then, and is applied in another way.
        """
        return bool(self.position) or self.later_pass or self.first_epoch or self.ended

    @property
    def generator(self) -> GeneratorGap | None:
        """The generator that the batch or its order was drawn from, where one stands elsewhere."""
        if self.without_loader and self.unrestored and self.made_from is None:
            return GeneratorGap(name=self.unrestored[0])
        return self.made_from or self.order_from

    @property
    def came(self) -> Spot:
        """Return where the batch that came stands; nothing is known where there is none such."""
        return self.found or Spot()

    @property
    def epochs_ahead(self) -> int:
        """Epochs by which the batch that came is ahead of the one that was due."""
        came, due = self.came.epoch, self.expected.epoch
        return 0 if came is None or due is None else came - due

    @property
    def batches_ahead(self) -> int:
        """Batches of the same epoch by which it is ahead."""
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
    """The samples of all ranks together, where their number is another one, are not those that were
    due.

    iteration     of the resumed run by which they first are not
    ranks         how many the continued and the resumed run have
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
    """A rung from the forward pass on: what the ladder of a check says of the shifted pair."""

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
