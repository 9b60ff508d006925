"""A result made by hand, for the formats."""

from __future__ import annotations

from reprocheck.scan.finding import UNUSED_IGNORE, Finding, Result, Unreadable

SEED = Finding(
    code="RC402",
    name="clock-seed",
    severity="error",
    path="src/train model.py",
    line=12,
    column=5,
    end_line=12,
    end_column=34,
    message="the seed comes from the clock (`time.time`)",
    text="    torch.manual_seed(time.time())",
    fix="torch.manual_seed(0)",
    patchable=True,
    joined_line=12,
    through=("train.py:30",),
)
CELL = Finding(
    code="RC505",
    name="hash-order",
    severity="warning",
    path="book.ipynb",
    line=2,
    column=1,
    end_line=3,
    end_column=4,
    message="a set | of [strings]: 100%, in order\nof <b>",
    text="names = set(x)" + " " * 200 + "+ y",
    fix="Sort it.",
    cell=3,
    joined_line=9,
)
NOTE = Finding(
    code=UNUSED_IGNORE,
    name=UNUSED_IGNORE,
    severity="note",
    path="zoo.py",
    line=1,
    column=90,
    end_line=1,
    end_column=120,
    message="nothing is found here that this comment answers",
    text="x = " + "é" * 80 + "  # reprocheck: ignore",
)
ANSWERED = Finding(
    code="RC301",
    name="unseeded-weights",
    severity="warning",
    path="zoo.py",
    line=3,
    column=1,
    end_line=3,
    end_column=9,
    message="weights are drawn",
    text="Linear(1)",
    suppressed="meant so",
)
RESULT = Result(
    findings=(CELL, SEED, NOTE),
    suppressed=(ANSWERED,),
    unreadable=(
        Unreadable(path="old.py", reason="Python 2: Missing parentheses", line=7),
        Unreadable(path="/abs/a b.py", reason="no permission"),
        *(
            Unreadable(path=f"big{number}.py", reason="too many calls", partly=True)
            for number in range(5)
        ),
    ),
    files=14,
    lines=1234,
)
EMPTY = Result(findings=(), files=1, lines=10)
