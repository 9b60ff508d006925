"""Describe what a rung of the ladder shows beside its sentence.

One class for each kind of difference, with the fields that causes, the search and reports ask for.
No field is a sentence.

`docs/reference/ladder.md` lists them; `python .ci/pages.py` writes that list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

SeededAs = Literal["never", "equally", "unequally", "by the system"]
Samples = Literal["unknown", "other order", "other content", "other samples"]
ShownBy = Literal[
    "nothing",
    "data set",
    "subset",
    "epoch",
    "indices",
    "all batches",
    "number of samples",
    "rest of the batch",
    "few samples",
    "no sample",
    "batch",
]
FromOutside = Literal["argument", "variable", "input"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """The tensor or number that is measured: the first of a fact that differs."""

    device: str = ""
    """The device that it lies on, as the framework names it."""
    dtype: str = ""
    """Its type in run 1."""
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Its shapes in both runs, where they are not the same."""
    values: tuple[object, object] | None = None
    """Its values in both runs, where they are small."""
    like_left_over_memory: bool = False
    """An element is not finite, or a norm is above 1e18 or, though not zero, below 1e-30."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeededLater:
    """A seed that came only after a generator had been drawn from."""

    by: str
    """The package that seeded; empty where the script did."""
    line: str
    """The line (`file:line`) that did."""
    seed: object
    """The number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Generator:
    """A generator whose state was not the same in both runs when it was drawn from."""

    name: str
    """Its name, or what stands for the JAX keys that one line makes."""
    seeded: SeededAs = "never"
    """How it was seeded before; by the system: without a number of the script's."""
    seeds: tuple[object, object] | None = None
    """The unequal seeds of both runs."""
    folded: bool = False
    """The unequal number was folded into a key."""
    key: bool = False
    """It stands for keys of JAX."""
    later: SeededLater | None = None
    """How it was seeded after that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Generators:
    """The generators that a difference was drawn from, and which the script had seeded before."""

    drawn: tuple[Generator, ...] = ()
    """Those whose states differ."""
    seeded: tuple[str, ...] = ()
    """All that had been seeded, also those whose states agree."""
    seed_line: str = ""
    """The line (`file:line`) that seeded one of `drawn`, with unequal seeds if any."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the generators whose states differ."""
        return tuple(one.name for one in self.drawn)

    @property
    def seeded_unequally(self) -> bool:
        """Return whether a generator was seeded with another number in each run."""
        return any(one.seeds is not None for one in self.drawn)

    @property
    def seeded_equally(self) -> bool:
        """Return whether all of the generators were seeded with the same numbers in both runs."""
        equally = [one.seeded != "never" and one.seeds is None for one in self.drawn]
        return bool(equally) and all(equally)

    def of(self, names: Sequence[str]) -> Generators:
        """Return the generators with these names; all generators if none has such a name."""
        drawn = tuple(one for one in self.drawn if one.name in names)
        return replace(self, drawn=drawn or self.drawn)


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftBehind:
    """Run 2 read files that run 1 left."""

    says: str = ""
    """The line of the log of run 2 that speaks of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenOtherwise:
    """The runs were given other arguments, environment variables or files.

    If two recordings are compared, also other source code.
    """

    kind: FromOutside | Literal["source"]
    """What is not the same."""
    names_the_run: bool = False
    """It only says how the run is called, or where its results go."""
    made: bool = False
    """A file that a program of each run makes anew, before the one that trains."""

    @property
    def from_outside(self) -> bool:
        """Return whether arguments, variables or files differ, and not the source code."""
        return self.kind != "source"

    @property
    def at_start(self) -> bool:
        """Return whether an argument or an environment variable of the start differs."""
        return self.kind in ("argument", "variable")


@dataclass(frozen=True, kw_only=True, slots=True)
class PathDiffers:
    """The runs take other paths: one alone does something, or both in another order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HyperParameterDiffers:
    """A value of an optimizer differs at an update."""

    other_weights: bool = False
    """It is the list of the weights that the optimizer holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """A file of weights whose content differed between the runs when it was loaded."""

    file: str
    """The file."""
    line: str = ""
    """The line (`file:line`) that loaded it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightsDiffer:
    """A parameter or buffer differs before the first iteration."""

    generators: Generators = field(default_factory=Generators)
    """The generators that stood otherwise when it was made."""
    states_known: bool = False
    """The states of generators were recorded when it was made."""
    filled_in_other_order: bool = False
    """The weights are filled in another order in each run."""
    loaded: Loaded | None = None
    """The file that it came from, where that is what differs."""
    missing_from: str | None = None
    """The module that a checkpoint without it was loaded into; empty for the model itself."""
    drawn_before_seed: Mapping[str, str] | None = None
    """Generator -> line of its first seed, where something had drawn from it before; known where
    no states are.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class StateDiffers:
    """Something draws from a generator whose state is not the same in both runs."""

    generators: Generators
    """The generators."""
    got: str
    """The kind of the fact that draws, or is the first to receive other values: `call`, `batch`,
    `epoch`, or another of the trace.
    """
    class_: str = ""
    """The class of the module that draws."""
    outside: bool = False
    """The script draws itself, outside of modules and loaders."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchDiffers:
    """A batch, or the order of samples, differs."""

    samples: Samples = "unknown"
    """What is not the same about the samples."""
    shown_by: ShownBy = "nothing"
    """What shows that: the data set in memory, what a subset takes of it, the order of the epoch,
    the indices of the batch, those or the hashes of all batches seen, or how many samples of the
    batch agree; batch: only that its content differs.
    """
    only_in_one_run: bool = False
    """The other run has no such batch."""
    by_loader: bool = True
    """A loader made it; else it is known only as the input of the model."""
    whole_epoch: bool = False
    """The order of the whole epoch is known, and not the same."""
    by_indices: bool = False
    """The indices of its samples were recorded."""
    built: bool = False
    """The data set in memory is another one before anything is drawn from it."""
    subset: bool = False
    """It is built, and a subset takes others from the data set."""
    worker: int | None = None
    """The worker process that made it."""
    worker_seeds: Mapping[str, tuple[object, object]] | None = None
    """Generator -> the unequal seeds that the worker gave it in both runs."""
    seed_line: str = ""
    """The line (`file:line`) in which the worker did."""
    private_generators: tuple[str, ...] = ()
    """Generators of the loader's own whose states were not the same when the epoch began."""
    seeded: tuple[str, ...] = ()
    """The process-wide generators that the script had seeded before."""
    drawn_before_seed: Mapping[str, str] | None = None
    """Generator -> line of its first seed, where something had drawn from it before; of data sets
    that were built.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class CallDiffers:
    """A module returns another output for the same inputs."""

    class_: str = ""
    """The class of the module."""
    generators: Generators = field(default_factory=Generators)
    """The generators whose states differ that it draws from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InputsDiffer:
    """The inputs of a module differ, and nothing that was recorded explains the difference."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LossDiffers:
    """The loss, or what it is made of behind the last module, differs."""

    only_labels: bool = False
    """What the loss is taken against differs, and nothing that was recorded makes it differ."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GradientDiffers:
    """A gradient differs in the backward pass."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedAfterBackward:
    """A gradient that is not reduced differs at the update."""

    agreed_before: bool = False
    """It was recorded in the backward pass, and agreed."""
    loss_agrees: bool = True
    """Everything up to the loss agrees."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReducedDiffers:
    """A gradient differs after it was reduced between ranks."""

    local_equal: bool | None = None
    """Whether the local gradients of the rank agree; None where they were not recorded."""
    loss_agrees: bool = True
    """Everything up to the loss agrees."""
    one_sum: tuple[bool, bool] | None = None
    """Whether all ranks hold the same sum in run 1, and in run 2; None where they are no replicas.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class UpdateDiffers:
    """A weight, or a state of its optimizer, differs after an update."""

    inputs_agree: bool = True
    """Nothing that was recorded before it differs."""
    optimizer: str = ""
    """The class and the index of the optimizer; empty where it is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WeightWritten:
    """Something beside the optimizer wrote to a weight between an update and a forward pass."""

    after_update: Literal["agrees", "differs", "no update"] = "no update"
    """What the weight was after its update, where an optimizer holds it."""
    only_in_one_run: bool = False
    """The other run does not write to it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorDiffers:
    """The first operator that differs, where operators were recorded."""

    name: str
    """The operator, such as `aten.mul.Tensor`."""
    only_in_one_run: bool = False
    """The other run does not call it."""
    inputs_differ: bool = False
    """What it is given differs already, and no recorded operator has made that."""
    reads_unfilled: bool = False
    """It reads memory that nothing has filled."""
    given_generator: bool = False
    """It was given a generator of its own to draw from."""


Evidence = (
    LeftBehind
    | GivenOtherwise
    | PathDiffers
    | HyperParameterDiffers
    | WeightsDiffer
    | StateDiffers
    | BatchDiffers
    | CallDiffers
    | InputsDiffer
    | LossDiffers
    | GradientDiffers
    | ChangedAfterBackward
    | ReducedDiffers
    | UpdateDiffers
    | WeightWritten
)
"""What a rung shows, by the kind of the difference."""


def generators_of(evidence: Evidence | None) -> Generators:
    """Return the generators that caused a difference; none if this kind of evidence names none."""
    if isinstance(evidence, WeightsDiffer | StateDiffers | CallDiffers):
        return evidence.generators
    return Generators()


def class_of(evidence: Evidence | None) -> str:
    """Return the class of the module that draws random numbers or returns something else.

    "" if none.
    """
    return evidence.class_ if isinstance(evidence, StateDiffers | CallDiffers) else ""


def seed_line(evidence: Evidence | None) -> str:
    """Return the line (`file:line`) that seeded the generator behind a difference.

    "" if none did.
    """
    if isinstance(evidence, BatchDiffers):
        return evidence.seed_line
    return generators_of(evidence).seed_line


def loaded_file(evidence: Evidence | None) -> str:
    """Return the file that differing weights were loaded from; "" if they were not loaded."""
    if isinstance(evidence, WeightsDiffer) and evidence.loaded is not None:
        return evidence.loaded.file
    return ""
