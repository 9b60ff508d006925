"""Scan the files of a program that are given as texts, once for each language of messages."""

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
    """The result of scanning a program that is given as texts.

    modules   by the names of their files
    orders    the executed orders of steps
    findings  without those that an ignore comment suppresses
    places    places in the code that may differ in each run
    """

    modules: Mapping[str, Module]
    orders: tuple[Order, ...]
    findings: tuple[Finding, ...]
    places: tuple[Place, ...]


def scanned_program(texts: Mapping[str, str], script: str, promise: Promise) -> ScannedProgram:
    """Return the scanned program of these files.

    texts    texts by file name
    script   the file that is executed
    promise  says which findings patches fix
    """
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
