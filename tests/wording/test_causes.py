"""The sentences of what speaks for a cause."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from reprocheck.language import Translated, spoken
from reprocheck.model.statement import Statement
from reprocheck.model.statements import causes
from reprocheck.model.statements.causes import (
    Circumstance,
    DrawnBeforeSeed,
    EndedWith,
    EnvironmentFact,
    FilesOfRun1,
    FoundByScan,
    LineDoes,
    LoadedFile,
    MadeAtStart,
    MadeByWorkers,
    MakesSeed,
    NotInCheckpoint,
    OnlyLine,
    OperationThere,
    OtherLine,
    OtherNumberOfWeights,
    Ranks,
    RefusedOperator,
    SeededAfterwards,
    SeededByWorker,
    SeededEqually,
    SeededUnequally,
    Unseeded,
)
from reprocheck.rules.operators import raised
from reprocheck.wording import say

SENTENCES: dict[Statement, str] = {
    LineDoes(kind="a draw", call="random.random", source="train.py:3"): (
        "train.py:3 fits: draws a number (`random.random`)."
    ),
    Ranks(number=2): "The run has 2 ranks.",
    Ranks(number=4, add="equal gradients"): "Local gradients agree; 4 ranks add them up.",
    OperationThere(name="Conv2d", kind="there"): "Conv2d lies where the difference begins.",
    OperationThere(name="aten.rand", kind="draws by itself"): (
        "`aten.rand` draws random numbers, and the default generators agree."
    ),
    EnvironmentFact(key="torch.threads", reference="1", value="2", run=2): (
        "`torch.threads` is 1 in run 1 and 2 in run 2."
    ),
    Unseeded(generators=("numpy", "torch")): (
        "Nothing seeded numpy and torch before the first draw."
    ),
    Unseeded(generators=()): "No seed was recorded before the first draw.",
    SeededAfterwards(generator="torch", by="", line="train.py:3", seed="1"): (
        "Line 3 of train.py seeds torch afterwards, with 1."
    ),
    DrawnBeforeSeed(generator="torch", seed="train.py:3"): (
        "Torch was drawn from before train.py:3 seeds it."
    ),
    DrawnBeforeSeed(generator="torch", seed=""): (
        "Torch was drawn from before the script seeds it."
    ),
    SeededUnequally(generator="torch", seeds=("1", "2"), folded=False): (
        "The torch generator was seeded with 1 in run 1 and 2 in run 2."
    ),
    SeededUnequally(generator="jax (train.py:4)", seeds=("1", "2"), folded=True): (
        "The jax key of line 4 of train.py had folded in 1 in run 1 and 2 in run 2."
    ),
    SeededEqually(generators=("torch",), key=False): (
        "The torch generator was seeded with the same number in both runs, and its state differs"
        " when it is drawn from."
    ),
    SeededEqually(generators=("torch", "numpy"), key=False): (
        "The numpy and torch generators were seeded with the same numbers in both runs, and their"
        " states differ when they are drawn from."
    ),
    SeededEqually(generators=("jax (train.py:4)",), key=True): (
        "The jax key of line 4 of train.py was made from the same number in both runs, and differs"
        " when it is drawn from."
    ),
    MadeByWorkers(): "The batches are made by worker processes.",
    MadeByWorkers(worker=0): "The batch was made by worker 0.",
    SeededByWorker(worker=1, generator="numpy", seeds=None): (
        "Worker 1 seeded numpy from the operating system."
    ),
    SeededByWorker(worker=1, generator="numpy", seeds=("7", "8")): (
        "Worker 1 seeded numpy with 7 in run 1 and 8 in run 2."
    ),
    FilesOfRun1(number=1): "The later run read it before it wrote there itself.",
    FilesOfRun1(number=2): "The later run read them before it wrote there itself.",
    FilesOfRun1(first="out/last.pt"): "A later run read out/last.pt, which run 1 wrote.",
    NotInCheckpoint(module=""): "The checkpoint loaded into the model did not hold it.",
    OtherNumberOfWeights(shapes=((8, 1), (16, 1))): (
        "The weights have 8×1 elements in run 1 and 16×1 in run 2: the number that says how many"
        " there are differs."
    ),
    LoadedFile(file="init.pt", kind="not the same"): (
        "`init.pt` did not hold the same in both runs when it was loaded."
    ),
    OtherLine(file="train.py", line=3, texts=("lr = 1", "lr = 2")): (
        "Line 3 of `train.py` is `lr = 1` in run 1 and `lr = 2` in run 2."
    ),
    MadeAtStart(by="$RANDOM"): "The command makes it of `$RANDOM`, which differs at each start.",
    MadeAtStart(by="date", file="run.sh", line=2): (
        "Line 2 of `run.sh` makes it of `date`, which differs at each start."
    ),
    EndedWith(run=2, message="RuntimeError: no."): "Run 2 ended with: RuntimeError: no.",
    RefusedOperator(operator="put_"): "The operator is `put_`.",
    RefusedOperator(operator="put_", source="model.py:7"): (
        "The operator is `put_`, called by model.py:7."
    ),
    OnlyLine(source="train.py:2", kind="Dropout"): (
        "train.py:2 makes the `Dropout`: no other line does."
    ),
    FoundByScan(message="A loader shuffles", precedes=True): (
        "The scan: A loader shuffles. The line was executed before the first difference."
    ),
    FoundByScan(message="A loader shuffles", precedes=False): (
        "The scan: A loader shuffles. Whether the line ran was not seen."
    ),
    MakesSeed(source="train.py:9"): (
        "The scan: the number that train.py:9 sets as a seed is made in this line."
    ),
}


@pytest.mark.parametrize(("statement", "sentence"), SENTENCES.items())
def test_a_statement_is_said(statement: Statement, sentence: str) -> None:
    assert say(statement) == sentence


@pytest.mark.parametrize("kind", [Circumstance, LineDoes, LoadedFile, OperationThere, Ranks])
def test_each_kind_of_a_statement_is_said_in_each_language(kind: type[Statement]) -> None:
    values = {"call": "f", "source": "a.py:1", "file": "a", "name": "a", "number": 2}
    types = get_type_hints(kind)
    given = {name: value for name, value in values.items() if name in types}
    name = "add" if kind is Ranks else "kind"
    for one in get_args(types[name]):
        statement = kind(**given, **{name: one})
        with spoken("zh"):
            said = say(statement)
        assert isinstance(said, Translated)
        assert said.english == say(statement) != said


def test_every_statement_of_a_cause_has_its_sentence() -> None:
    own = {
        one for one in vars(causes).values() if getattr(one, "__module__", "") == causes.__name__
    }
    assert own - {type(one) for one in SENTENCES} == {Circumstance}


def test_a_listed_operator_is_said_with_its_source() -> None:
    assert say(raised("put_")[0]) == (
        "torch.Tensor.put_ (called with accumulate=True on a CPU tensor) is on the list of"
        " operators that PyTorch treats in deterministic mode (documentation of"
        " torch.use_deterministic_algorithms, 2.13.0)."
    )
