"""Hold the catalogue of causes and the lists of noisy operators, as data with their sources.

May import model and errors only.
"""

from __future__ import annotations

from reprocheck.rules.catalogue import (
    Entry as Entry,
    catalogue as catalogue,
    entry as entry,
    find as find,
    nearest as nearest,
)
from reprocheck.rules.drift import (
    DriftClass as DriftClass,
    drift_class as drift_class,
    drift_classes as drift_classes,
)
from reprocheck.rules.operators import (
    Operator as Operator,
    OperatorList as OperatorList,
    known as known,
    operator_lists as operator_lists,
    raised as raised,
)
