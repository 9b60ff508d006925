"""How things are seeded: generators of the process, generators of one's own, loaders and their
workers. Patches, causes, the search and the fix of a resume take it from here.

The table is `reprocheck.scan.vocabulary/seeds.toml`: the scan reads what calls seed, and fixes what
to write.
"""

from __future__ import annotations

import msgspec

from reprocheck.scan.checks import tables
from reprocheck.scan.names import last_part
from reprocheck.scan.vocabulary import rows, words


class Stream(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A generator of the process.

    name         the name of the generator in the ladder
    titles       the names that findings of the scan give its streams
    module       the module to import
    seed         the function of the module that seeds
    number       the seed to use if the program has none
    draws        the module whose functions draw from the generator, if lines that draw are recorded
    read, write  what reads its state in the module, and what sets it, with `{}` for the value; a
                 second `{}` stands for the code that moves the value to the host
    """

    name: str
    titles: tuple[str, ...]
    module: str
    seed: str
    number: str = "0"
    draws: str = ""
    read: str = ""
    write: str = ""

    @property
    def call(self) -> str:
        """The call that seeds the generator: `numpy.random.seed(0)`."""
        return f"{self.module}.{self.seed}({self.number})"


class State(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the state of a generator of one's own is read and set, by its class or maker."""

    calls: str
    read: str
    write: str


STREAMS = tuple(rows("seeds", "stream", list[Stream]))
BY_NAME = {stream.name: stream for stream in STREAMS}
BY_TITLE = {title: stream for stream in STREAMS for title in stream.titles}
TF_KERAS = Stream(
    name="keras", titles=("Keras",), module="tensorflow", seed="keras.utils.set_random_seed"
)
"""Keras of a program that has it from TensorFlow, which may be another one than `keras`."""

STATES = {
    name: (row.read, row.write)
    for row in rows("seeds", "state", list[State])
    for name in row.calls.split()
}
"""Generators of one's own: how their state is read and set, by class or maker."""
MAKERS_WITH_SEED = {
    last_part(name): row.keyword
    for name, row in tables.makers().items()
    if row.without in ("system", "stream")
}
"""What makes a generator of one's own, and the keyword of its seed, which comes first."""
_SEEDING: tuple[tables.Seeds | tables.Maker, ...] = (
    *rows("seeds", "seed", list[tables.Seeds]),
    *tables.makers().values(),
)
WITH_NUMBER = {
    last_part(name): last_part(row.instead)
    for row in _SEEDING
    for name in row.calls.split()
    if row.instead
}
"""Functions and methods that take no seed, each with the one beside it that does."""
PRIMITIVES = {name: (row.keyword, row.position) for name, row in tables.primitives().items()}
"""MindSpore's random primitives: the keyword of their seed, and its place."""

TORCH_GENERATOR = "{torch}.Generator().manual_seed(0)"
"""A generator for a loader or a split."""
DRAWN_SEED = "{torch}.randint(2**32, ()).item()"
"""A seed from the stream of torch, which is another one in each data worker and each epoch."""
WORKER_SEED = "{torch}.initial_seed()"
"""The number that torch gives each data worker: another one in each, and the same in each run where
the loader's generator is seeded.
"""

TAKE_A_SEED = words("seeds", "take_a_seed")
"""What takes a number as a seed, by the last part of its name."""


def seeds_from_system(name: str) -> bool:
    """Return whether a function without a number seeds a generator of the process from the
    operating system: `torch.seed`.
    """
    known = tables.seeds().get(name)
    return known is not None and known.without == "system"
