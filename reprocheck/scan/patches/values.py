"""Seeds that are other numbers in each run: a constant for what changes in them."""

from __future__ import annotations

import libcst as cst

from reprocheck.scan.checks import tables
from reprocheck.scan.finding import Finding
from reprocheck.scan.patches.seeding import bound_as, can_bind, with_generator
from reprocheck.scan.patches.tree import Edit, Tree, called, inside, is_none, is_open, keyword, last, positional, with_value, written

_WORDS = ("seed", "random_state", "random_seed", "np_seed", "data_seed", "x", "a", "entropy", "default")
_CONVERT = frozenset({"int", "round", "abs", "float", "hash", "id", "str", "pow", "divmod", "len", "min", "max", "repr"})
_KINDS = ("clock", "process", "system", "load")
_DRAWS = ("random.", "numpy.random.", "torch.rand")
_WORKER = "{torch}.initial_seed() % 2**32"
"""The number that torch gives each data worker: another one in each, the same in each run where the loader's generator is seeded."""


def fixed_seed(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`manual_seed(int(time.time()))` as `manual_seed(0)`, `seed(rank + time_ns())` as `seed(rank + 0)`."""
    call = tree.at(finding, cst.Call)
    if call is None or is_open(call) or not tree.once(call):
        return None
    given = keyword(call, *_WORDS) or next(iter(positional(call)), None)
    if given is None:
        return _numbered(tree, call)
    if is_none(given.value):
        return Edit(changes=(with_value(given, "0"),))
    value = tree.value_of(given.value) if isinstance(given.value, cst.Name) else given.value
    if value is None or not tree.once(value):
        return None
    changing = [_whole(tree, one, value) for one in _sources(tree, value)]
    if len(changing) != 1 or isinstance(tree.parent(changing[0]), cst.Attribute):
        return None
    return Edit(changes=((changing[0], lambda _: cst.Integer("0")),))


def worker_seed(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """The seed of a data worker from torch's number for it, and a seeded generator for the loader, which that comes from."""
    call = tree.at(finding, cst.Call)
    loader = _loader(tree, call) if call is not None else None
    if call is None or loader is None or is_open(call) or not can_bind(tree, "torch") or tree.is_repeated(loader):
        return None
    if last(tree.name(call.func)) != "seed" or tree.name(call.func).startswith("torch"):
        return None
    number_of = cst.parse_expression(_WORKER.format(torch=bound_as(tree.module.body, "torch") or "torch"))
    argument = cst.Arg(number_of)
    more = None if keyword(loader, "generator") is not None else with_generator(tree, loader)
    changes = (call, lambda node: cst.ensure_type(node, cst.Call).with_changes(args=[argument]))
    return Edit(changes=(changes, *(more.changes if more else ())), imports=("torch",))


def _numbered(tree: Tree, call: cst.Call) -> Edit | None:
    """A seeding call without a number; `torch.seed()` takes none, and has a sister that does."""
    if call.args:
        return None
    if not tree.name(call.func).startswith("torch."):
        return Edit(changes=((call, lambda node: cst.ensure_type(node, cst.Call).with_changes(args=[cst.Arg(cst.Integer("0"))])),))
    sister = {"seed": "manual_seed", "seed_all": "manual_seed_all"}.get(last(tree.name(call.func)))
    if sister is None or not isinstance(call.func, cst.Attribute) or not isinstance(tree.parent(call), cst.Expr):
        return None
    zero = [cst.Arg(cst.Integer("0"))]
    return Edit(changes=((call, lambda node: cst.ensure_type(called(node, sister), cst.Call).with_changes(args=zero)),))


def _sources(tree: Tree, value: cst.BaseExpression) -> list[cst.Call]:
    """The outermost calls in an expression that give another number in each run."""
    found = []
    for node in inside(value):
        if isinstance(node, cst.Call) and _changes(tree, node):
            found.append(node)
    return [one for one in found if not any(around in found for around in tree.around(one))]


def _changes(tree: Tree, call: cst.Call) -> bool:
    name = tree.name(call.func)
    return (
        name in ("builtins.hash", "builtins.id") or name.startswith(_DRAWS) or any(name in tables.words("entropy", kind) for kind in _KINDS)
    )


def _whole(tree: Tree, source: cst.Call, value: cst.BaseExpression) -> cst.CSTNode:
    """The largest part of a number that has nothing in it but constants, conversions and what changes."""
    best: cst.CSTNode = source
    for node in [source, *tree.around(source)]:
        if isinstance(node, cst.BaseExpression):
            if not _is_plain(node):
                break
            best = node
        if node is value:
            break
    return best


def _is_plain(node: cst.BaseExpression) -> bool:
    """Whether no variable has a part in it: names stand only for functions that are called, and for modules."""
    for one in inside(node):
        if isinstance(one, cst.Call) and not written(one.func) and not isinstance(one.func, cst.Attribute):
            return False
    attributes = {one.attr for one in inside(node) if isinstance(one, cst.Attribute)}
    names = {one.value for one in inside(node) if isinstance(one, cst.Name) and one not in attributes}
    functions = {part for one in inside(node) if isinstance(one, cst.Call) for part in _parts(one.func)}
    return names <= functions | _CONVERT


def _parts(function: cst.BaseExpression) -> set[str]:
    """The first name of a function: `time` of `time.time`."""
    while isinstance(function, cst.Attribute):
        function = function.value
    return {function.value} if isinstance(function, cst.Name) else set()


def _loader(tree: Tree, call: cst.Call) -> cst.Call | None:
    """The loader whose workers run the code around a call: it stands in its `worker_init_fn`, or in the function that is named there."""
    own = {one.name.value for one in tree.around(call) if isinstance(one, cst.FunctionDef)}
    around = set(tree.around(call))
    found = []
    for loader in tree.every(cst.Call):
        given = keyword(loader, "worker_init_fn")
        if given is not None and (given.value in around or written(given.value) in own) and not is_open(loader):
            found.append(loader)
    return found[0] if len(found) == 1 else None
