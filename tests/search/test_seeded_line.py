"""Lines that make a generator without a seed, or seed one from the operating system, with a number."""

from __future__ import annotations

import pytest

from reprocheck.model import Cause, SourceLine
from reprocheck.search.confirmed import confirmed
from reprocheck.search.place import Place
from reprocheck.search.seeded_line import seeded_line
from tests.causes.cause_ladders import GROSS, check, ladder

FIELD = "rng: Generator = field(default_factory=np.random.default_rng)"
FIELD_SEEDED = "rng: Generator = field(default_factory=lambda: np.random.default_rng(0))"


@pytest.mark.parametrize(
    ("line", "what", "seeded"),
    [
        ("rng = np.random.default_rng()", "", "rng = np.random.default_rng(0)"),
        (FIELD, "", FIELD_SEEDED),
        ("generator.seed()", "torch.Generator.seed", "generator.manual_seed(0)"),
        ("torch.seed()", "torch.Generator.seed", "torch.manual_seed(0)"),
        ("n = random.SystemRandom().random()", "", "n = random.Random(0).random()"),
        (
            "self.noise = tf.random.Generator.from_non_deterministic_state()",
            "",
            "self.noise = tf.random.Generator.from_seed(0)",
        ),
        ("generator.seed()", "", ""),
        ("n = secrets.SystemRandom().random()", "", ""),
        ("rng = np.random.default_rng(3)", "", ""),
        ("for row in", "", ""),
    ],
)
def test_a_line_gets_a_number(line: str, what: str, seeded: str) -> None:
    assert seeded_line(line, what) == seeded


def test_the_fix_is_the_line_of_the_cause_where_the_control_acted_elsewhere() -> None:
    """The generator of a field is made where its class is called."""
    made = Place(line=SourceLine(file="run.py", line=23, text="Collator()"), what="a seed")
    cause = Cause(
        code="RC504",
        title="",
        confidence="suspected",
        source=SourceLine(file="collator.py", line=11, text=FIELD),
        fix="seed it",
    )
    differs = check(ladder("batch", samples="other content", **GROSS), causes=(cause,))
    first, *_ = confirmed(differs, ["private-rng"], "agreed", places={"private-rng": (made,)})
    assert (first.at, first.fix) == ("collator.py:11", FIELD_SEEDED)
