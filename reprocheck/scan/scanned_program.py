"""A program of texts as the scan reads it: scanned once for each language that findings are told
in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from reprocheck.language import tag
from reprocheck.scan.engine import Promise
from reprocheck.scan.finding import UNUSED_IGNORE, Finding
from reprocheck.scan.judge import finished, judged
from reprocheck.scan.order import Order
from reprocheck.scan.places import Place, places
from reprocheck.scan.programs import of_program
from reprocheck.scan.project import Module


@dataclass(frozen=True, kw_only=True, slots=True)
class ScannedProgram:
    """What the scan makes of the texts of a program.

    modules   by the names of their files
    orders    what is executed
    findings  what is found in it, without what a comment ignores
    places    those that are not the same in each run
    """

    modules: Mapping[str, Module]
    orders: tuple[Order, ...]
    findings: tuple[Finding, ...]
    places: tuple[Place, ...]


def scanned_program(texts: Mapping[str, str], script: str, promise: Promise) -> ScannedProgram:
    """Return a program with these files, whose findings say what patches fix."""
    return _scanned(tuple(texts.items()), script, promise, tag())


@lru_cache(maxsize=2)
def _scanned(
    texts: tuple[tuple[str, str], ...], script: str, promise: Promise, language: str
) -> ScannedProgram:
    project = of_program(dict(texts), script)
    modules = list(project)
    found, _ = judged(modules)
    orders = tuple(order for module in modules for order in module.orders)
    (findings,) = promise([(project, finished(project, found))], 1)
    shown = [one for one in findings if one.code != UNUSED_IGNORE and one.suppressed is None]
    return ScannedProgram(
        modules={module.shown: module for module in modules},
        orders=orders,
        findings=tuple(shown),
        places=places(orders, modules),
    )
