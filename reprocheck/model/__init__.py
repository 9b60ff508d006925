"""The result model: what was started, what was recorded, what was decided.

Frozen dataclasses without behaviour.

Imports the standard library only. `docs/reference/report-json.md` documents the JSON that is made
of them.
"""

from reprocheck.model.check import FRAMEWORKS as FRAMEWORKS, Check as Check, Recorded as Recorded
from reprocheck.model.compared import (
    Between as Between,
    ChangedLine as ChangedLine,
    Drift as Drift,
    Expects as Expects,
    Noise as Noise,
    SourceDifference as SourceDifference,
)
from reprocheck.model.controls import (
    Conflict as Conflict,
    ControlClass as ControlClass,
    ControlTrace as ControlTrace,
    Override as Override,
    Search as Search,
    Touch as Touch,
    TouchedLine as TouchedLine,
    Tried as Tried,
)
from reprocheck.model.explanation import (
    RUNGS as RUNGS,
    Cause as Cause,
    Confidence as Confidence,
    Ladder as Ladder,
    Lead as Lead,
    Rung as Rung,
    RungName as RungName,
    RungStatus as RungStatus,
    Size as Size,
    SourceLine as SourceLine,
    TracePosition as TracePosition,
)
from reprocheck.model.reason import Reason as Reason
from reprocheck.model.record import (
    SCHEMA_VERSION as SCHEMA_VERSION,
    Advice as Advice,
    Arm as Arm,
    CheckRecord as CheckRecord,
    DeeperPair as DeeperPair,
    Ended as Ended,
    EntryPoint as EntryPoint,
    FileChanges as FileChanges,
    FilesAfter as FilesAfter,
    Reseeded as Reseeded,
    RunRecord as RunRecord,
    Setting as Setting,
    Side as Side,
    Tolerance as Tolerance,
    Trial as Trial,
    is_elsewhere as is_elsewhere,
)
from reprocheck.model.trace import (
    LOSS_SERIES as LOSS_SERIES,
    NOT_RECORDED as NOT_RECORDED,
    Checked as Checked,
    CheckKind as CheckKind,
    FirstRead as FirstRead,
    InputFile as InputFile,
    LossSeries as LossSeries,
    OwnVariable as OwnVariable,
    Process as Process,
    Run as Run,
    Sample as Sample,
    Series as Series,
    Trace as Trace,
)
from reprocheck.model.verdict import (
    EXIT_CODE as EXIT_CODE,
    FAIL_ON as FAIL_ON,
    MIRRORS_RULE as MIRRORS_RULE,
    SERIES_RULE as SERIES_RULE,
    Bitwise as Bitwise,
    Comparison as Comparison,
    Divergence as Divergence,
    EnvironmentDifference as EnvironmentDifference,
    LossStatistics as LossStatistics,
    OneIsLonger as OneIsLonger,
    OutcomeGroup as OutcomeGroup,
    Outcomes as Outcomes,
    SeriesComparison as SeriesComparison,
    SeriesPlace as SeriesPlace,
    SeriesState as SeriesState,
    Verdict as Verdict,
    VerdictName as VerdictName,
    is_rule as is_rule,
    rules_of as rules_of,
)
