"""The result model: what was started, what was recorded, what was decided. Frozen dataclasses without behaviour.

Imports the standard library only. `docs/reference/report-json.md` documents the JSON that is made of them.
"""

from reprocheck.model.check import Check
from reprocheck.model.compared import Between, Drift, Expects, Noise
from reprocheck.model.controls import Conflict, ControlClass, ControlTrace, Override, Search, Touch, Tried
from reprocheck.model.record import (
    SCHEMA_VERSION,
    Arm,
    CheckRecord,
    DeeperPair,
    Ended,
    EntryPoint,
    FileChanges,
    RunRecord,
    Setting,
    Side,
    Tolerance,
)
from reprocheck.model.trace import Checked, CheckKind, LossSeries, Process, Run, Trace
from reprocheck.model.verdict import (
    EXIT_CODE,
    Bitwise,
    Comparison,
    Divergence,
    EnvironmentDifference,
    LossStatistics,
    OutcomeGroup,
    Outcomes,
    Verdict,
    VerdictName,
)
from reprocheck.model.why import RUNGS, Cause, Confidence, Ladder, Rung, RungName, RungStatus, Size, SourceLine

__all__ = [
    "EXIT_CODE",
    "RUNGS",
    "SCHEMA_VERSION",
    "Arm",
    "Between",
    "Bitwise",
    "Cause",
    "Check",
    "CheckKind",
    "CheckRecord",
    "Checked",
    "Comparison",
    "Confidence",
    "Conflict",
    "ControlClass",
    "ControlTrace",
    "DeeperPair",
    "Divergence",
    "Drift",
    "Ended",
    "EntryPoint",
    "EnvironmentDifference",
    "Expects",
    "FileChanges",
    "Ladder",
    "LossSeries",
    "LossStatistics",
    "Noise",
    "OutcomeGroup",
    "Outcomes",
    "Override",
    "Process",
    "Run",
    "RunRecord",
    "Rung",
    "RungName",
    "RungStatus",
    "Search",
    "Setting",
    "Side",
    "Size",
    "SourceLine",
    "Tolerance",
    "Touch",
    "Trace",
    "Tried",
    "Verdict",
    "VerdictName",
]
