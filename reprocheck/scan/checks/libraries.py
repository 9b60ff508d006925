"""Find library calls whose results differ even if all global generators are seeded.

Also packages of Keras that no seed reaches.

A table names these calls; a project may extend the table.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import chain

from reprocheck.language import tr
from reprocheck.rules.catalogue import Severity
from reprocheck.scan.checks import tables
from reprocheck.scan.checks.streams import every, given, spelt
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, check_orders, hit
from reprocheck.scan.steps import Call
from reprocheck.scan.values import Constant, Items
from reprocheck.scan.vocabulary import pattern

_CAUSES = {
    "own": "`{name}` has a generator of its own, which no global seed reaches",
    "threads": "the threads of `{name}` write the same weights, in the order in which they run",
    "arrival": "with several jobs `{name}` goes on from what is ready first",
    "timing": "`{name}` times two ways of adding, which give other sums, and takes the faster",
}
_SEVERITIES: Mapping[str, Severity] = {"timing": "note"}
"""Less than that of the rule: it differs only where the two ways are about as fast."""


@check_orders("RC202", "RC407", "RC504", "RC508", "RC602", "RC902")
def of_libraries(order: Order) -> Iterator[Hit]:
    """Find calls that the table of libraries lists as different in each run."""
    for call in every(order):
        known = tables.libraries().get(call.name)
        if known is None or not _differs(order, call, known):
            continue
        name = call.name.removesuffix(".__init__").rpartition(".")[2]
        fix = known.fix or tr("Give `{name}` a seed: `{seed}=0`.", name=name, seed=known.seed)
        message = _CAUSES[known.cause].format(name=name)
        severity = _SEVERITIES.get(known.cause)
        yield hit(known.code, call, message, severity=severity, patchable=False, by_hand=fix)


def _differs(order: Order, call: Call, known: tables.Library) -> bool:
    places = known.positions
    conditions = [one for one in (known.seed, *known.unless) if one]
    if any(given(call, one, places.get(_keyword(one))) for one in conditions):
        return False
    if not all(given(call, one, places.get(_keyword(one))) for one in known.only):
        return False
    options = set(chain.from_iterable(_spelt_options(call, known)))
    is_without = "*" not in options and options.isdisjoint(conditions)
    return not call.open and is_without and not _is_called(order, call)


def _keyword(condition: str) -> str:
    """Return NAME of a condition `NAME=VALUE` on an argument."""
    return condition.partition("=")[0]


def _spelt_options(call: Call, known: tables.Library) -> Iterator[list[str]]:
    """Yield the entries of dicts of options that a call gets, as `NAME` and `NAME=VALUE`.

    `*` stands for a dict whose content is not known.
    """
    for name, position in known.options.items():
        value = call.argument(position, name)
        match value:
            case Items(kind="dict", keys=keys, items=items, whole=True):
                pairs = zip(keys, items, strict=False)
                named = [(key.value, one) for key, one in pairs if isinstance(key, Constant)]
                yield [f"{key}={spelt(one)}" for key, one in named]
            case None | Constant():
                continue
            case _ if call.method[:1].islower():
                yield ["*"]


def _is_called(order: Order, call: Call) -> bool:
    """Return whether a pipeline that `pipeline_def` made gets a seed when it is called.

    `pipeline_def` is a decorator.
    """
    if not call.name.endswith("pipeline_def"):
        return False
    return any("seed" in one.keywords for one in every(order) if one.own)


_OF_PRIVATE = pattern("libraries", "of_private")


@check("RC013")
def two_kerases(module: Module, project: Project) -> Iterator[Hit]:
    """Find `tensorflow.python.keras`, which no seed of `keras` reaches, and two Kerases.

    Two packages of Keras in one program are meant.
    """
    packages: dict[str, ast.AST] = {}
    for node, name in _imports(module):
        if _OF_PRIVATE.match(f"{name}."):
            message = (
                f"`{name}` is a private copy of Keras with its own generators; import `keras` or"
                " `tensorflow.keras`"
            )
            yield Hit(code="RC013", module=module, node=node, message=message)
            continue
        package = _PACKAGES.match(name)
        # In a `try` the program takes what there is, or does without it.
        parent = module.parent(node)
        is_tried = isinstance(parent, ast.Try) and bool(parent.handlers) and node in parent.body
        if package is not None and not is_tried:
            packages.setdefault(package.group(), node)
    if len(packages) < 2:
        return
    shown = "` and `".join(sorted(packages))
    last = max(packages.values(), key=lambda node: getattr(node, "lineno", 0))
    message = f"`{shown}` in one program: objects and seeds of one may not be known to the other"
    yield Hit(code="RC013", module=module, node=last, message=message)


_PACKAGES = re.compile(r"(?:keras|tf_keras)(?=\.|$)|tensorflow\.keras")


def _imports(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield each import statement with the full name of each module that it imports."""
    for node in module.index.imports:
        match node:
            case ast.Import(names=names):
                yield from ((node, alias.name) for alias in names)
            case ast.ImportFrom(level=0, module="tensorflow" | "tensorflow.python", names=names):
                yield from ((node, f"{node.module}.{alias.name}") for alias in names)
            case ast.ImportFrom(level=0, module=str(name)):
                yield node, name
