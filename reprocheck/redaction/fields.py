"""The fields that may leave the machine, and how: the list that decides.

A text that stands in no row is left out. Numbers need no row: they leave as they are, but for those
behind `VALUE`. `docs/reference/bundle.md` shows the table; `python .ci/pages.py` writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Literal

How = Literal[
    "as is",
    "name",
    "path",
    "arguments",
    "command",
    "person",
    "sentence",
    "text",
    "log",
    "value",
    "facts",
    "changes",
    "versions",
    "settings",
]

MEANS: Mapping[How, str] = {
    "as is": "one of a closed list of words, or made of numbers alone",
    "name": "through the detector; `strict`: only words of a list, else a number for it",
    "path": (
        "relative to the project, or from `~`, else the file's name; through the detector;"
        " `strict`: a number and the suffix"
    ),
    "arguments": (
        "script, options and numbers; the shape of all else (`<text>`, `<path>.yaml`); `strict`:"
        " only options of a list"
    ),
    "command": "a command as one types it, likewise",
    "person": "left out",
    "sentence": "a sentence of reprocheck's: through the detector; `strict`: left out",
    "text": "free text: through the detector; `strict`: left out",
    "log": "left out; with `--with-log` as text",
    "value": "numbers as they are, text as its shape",
    "facts": (
        "those of a list of keys, through the detector; of environment variables the names alone;"
        " `strict`: only values, variables and packages of lists"
    ),
    "changes": "facts, as they were and as they are",
    "versions": "through the detector; `strict`: only names of a list, and numbers",
    "settings": "numbers and words of a closed list, else through the detector",
}

Table = Mapping[str, Mapping[How, str]]
OF_A_CHECK: Table = {
    "Check": {
        "path": "state_left state_alike state_visible",
        "sentence": "state_caveat changed_to_observe caveats coverage",
    },
    "CheckRecord": {
        "as is": "reprocheck_version started controls",
        "facts": "environment",
        "sentence": "changed_to_observe caveats",
    },
    "EntryPoint": {"as is": "kind", "arguments": "command", "path": "name"},
    "Setting": {"as is": "name", "settings": "value", "path": "origin"},
    "FileChanges": {
        "path": "created changed deleted folders unseen elsewhere made gone read",
    },
    "FilesAfter": {
        "path": "put_back moved replaced left others kept before saved meanwhile lost unkept"
    },
    "RunRecord": {"as is": "ended started"},
    "DeeperPair": {"as is": "level", "name": "inside"},
    "Arm": {"as is": "controls", "sentence": "why"},
    "Side": {
        "as is": "started reprocheck_version",
        "path": "name",
        "facts": "environment",
    },
    "Run": {
        "as is": "level",
        "facts": "environment",
        "versions": "frameworks",
        "log": "stdout_tail stderr_tail",
        "sentence": "changed_to_observe caveats problems broken",
    },
    "Process": {"as is": "python"},
    "Trace": {
        "facts": "environment",
        "versions": "frameworks",
        "sentence": "left_because changed_to_observe caveats problems broken",
    },
    "LossSeries": {"as is": "exact", "name": "dtypes"},
    "Series": {"name": "name by"},
    "SeriesComparison": {"as is": "state", "name": "name reported by"},
    "Checked": {"as is": "kind"},
    "Comparison": {"as is": "kind", "sentence": "detail"},
    "Divergence": {"sentence": "detail"},
    "Outcomes": {"as is": "statement"},
    "Verdict": {"as is": "verdict failed_check", "sentence": "reason caveats"},
    "EnvironmentDifference": {"facts": "key reference value"},
    "Ladder": {"as is": "first level independent", "sentence": "sentence coverage"},
    "Rung": {"as is": "rung status size", "name": "place culprit", "sentence": "detail"},
    "SourceLine": {"path": "file", "text": "text"},
    "Cause": {
        "as is": "code confidence fix_from",
        "sentence": "title evidence",
        "text": "fix",
    },
    "StaticFinding": {
        "as is": "code name severity fix_from executed",
        "sentence": "message",
        "text": "fix",
    },
    "ControlTrace": {"name": "unavailable", "path": "patched"},
    "Touch": {"as is": "control", "name": "what", "value": "value"},
    "Override": {"as is": "control", "name": "what", "value": "old new"},
    "Conflict": {"as is": "control", "name": "what", "value": "value wanted"},
    "Search": {
        "as is": "smallest cost_of",
        "name": "unavailable",
        "sentence": "sentence confidence further",
        "text": "fix patch",
    },
    "Tried": {"as is": "controls", "sentence": "note", "log": "says"},
    "Between": {"sentence": "sentence"},
    "Drift": {"as is": "name title expects why reference"},
    "SourceDifference": {"path": "file", "text": "diff"},
}
OF_A_RESUME: Table = {
    "ResumeCheck": {"sentence": "caveats coverage"},
    "ResumeRecord": {
        "as is": "interrupt",
        "command": "resume_with",
        "path": "pattern",
        "name": "missed",
    },
    "Arm": {"as is": "rungs"},
    "Place": {"name": "name", "arguments": "command"},
    "Checkpoint": {"name": "by", "path": "line paths"},
    "Trial": {"text": "patch"},
    "Outcome": {"as is": "verdict", "sentence": "reason", "path": "read"},
    "StateRung": {"as is": "name status", "name": "place", "sentence": "detail"},
    "Mechanism": {"as is": "code", "sentence": "title evidence", "text": "fix"},
    "OtherRanks": {"name": "drawn_by"},
    "Explained": {"as is": "mechanisms", "sentence": "coverage", "name": "beside"},
    "Attempt": {"as is": "rungs acted", "name": "names unavailable"},
    "Confirmation": {"as is": "rungs", "sentence": "sentence"},
    "Repair": {"text": "patch", "sentence": "sentence"},
    "Reported": {"name": "name by"},
}
OF_A_NIGHT: Table = {
    "Night": {
        "as is": "id shard commit executor reprocheck_version",
        "name": "targets selected",
    },
    "TargetReport": {"as is": "green", "name": "name"},
    "ShownTarget": {"name": "tags", "command": "explain", "path": "script folder"},
    "TargetCheck": {
        "as is": "night verdict failed_check rung causes commit",
        "name": "target place",
        "sentence": "reason",
        "path": "source folder",
        "facts": "beside",
    },
    "Key": {"facts": "facts"},
    "TargetState": {
        "as is": "night state since",
        "name": "target",
        "sentence": "sentence operation",
        "changes": "changed",
    },
    "Difference": {"name": "series"},
    "Baseline": {
        "as is": "night commit",
        "name": "target",
        "text": "why",
        "person": "who",
        "facts": "environment",
        "path": "recording",
    },
}


TABLES = (OF_A_CHECK, OF_A_RESUME, OF_A_NIGHT)


def rows(table: Table) -> Iterator[tuple[tuple[str, str], How]]:
    """Each class and field with the way in which it leaves."""
    for kind, ways in table.items():
        for how, names in ways.items():
            for name in names.split():
                yield (kind, name), how


FIELDS: Mapping[tuple[str, str], How] = dict(chain.from_iterable(map(rows, TABLES)))
"""(class of the result model, field) -> how it leaves."""

LEFT_OUT = frozenset(
    {
        ("Check", "folder"),
        ("CheckRecord", "earlier"),
        ("CheckRecord", "advice"),
        ("Side", "sources"),
        ("Run", "opened"),
        ("Run", "inputs"),
        ("Run", "first_reads"),
        ("Run", "processes"),
        ("RunRecord", "gone"),
        ("Rung", "measured"),
        ("Rung", "operator"),
        ("Rung", "recorded_at"),
        ("Touch", "lines"),
        ("StaticFinding", "used"),
    }
)
"""Fields that hold more than text, and that no report shows: empty in what leaves."""
