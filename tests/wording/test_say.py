"""What the floors find out, in words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reprocheck.model.statement import Statement
from reprocheck.model.statements.difference import FirstDifference, Unexplained
from reprocheck.model.statements.verdict import OfRanks
from reprocheck.wording import say
from reprocheck.wording.ladder.terms import said_of

BASES = (FirstDifference, OfRanks, Unexplained)


def statements(base: type[Statement] = Statement) -> Iterator[type[Statement]]:
    for kind in base.__subclasses__():
        yield from statements(kind)
        # each class is made twice, without slots first
        if kind not in BASES and "__slots__" in vars(kind):
            yield kind


@pytest.mark.parametrize("kind", sorted(statements(), key=lambda kind: kind.__name__))
def test_each_statement_has_its_sentence(kind: type[Statement]) -> None:
    functions = said_of if issubclass(kind, FirstDifference) else say
    assert functions.dispatch(kind) is not functions.dispatch(Statement)
