"""Seeds that are other numbers in each run: a constant for what changes in them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, filterfalse, takewhile

import libcst as cst

from reprocheck.fixes.edits.changes import Edit, called, in_place_of, with_number, with_value
from reprocheck.fixes.edits.imports import can_bind, name_of
from reprocheck.fixes.edits.tree import Tree, argument, inside, is_none, is_open, keyword, written
from reprocheck.fixes.patches.fixer import on_call
from reprocheck.fixes.patches.seeding import is_seeding, seeded, with_generator
from reprocheck.fixes.seeds import WITH_NUMBER, WORKER_SEED
from reprocheck.scan.checks import tables
from reprocheck.scan.finding import Finding
from reprocheck.scan.index import of_kind
from reprocheck.scan.names import last_part
from reprocheck.scan.vocabulary import names, words

_WORDS = names("patches", "words")
_CONVERT = words("patches", "convert")
_CONVERSIONS = _CONVERT | {"int.from_bytes"}
_OF_OBJECTS = ("builtins.hash", "builtins.id")
"""Functions whose number stands for the object that they are given."""
_ARITHMETIC = (cst.BinaryOperation, cst.UnaryOperation, cst.Call, cst.Attribute)
"""What computes a number of another."""
_NUMBERS = words("patches", "numbers")
_GIVE_NUMBERS = words("patches", "give_numbers")


def fixed_seed(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Seed by a constant: `manual_seed(int(time.time()))` becomes `manual_seed(0)`.

    `seed(rank + time_ns())` becomes `seed(rank + 0)`.

    Where the number is made in another statement than the one that seeds, that one is changed:
    `seed = int(time.time())` as `seed = 0`.
    """
    if "stream" in finding.evidence:
        return seeded(tree, finding, number)
    call = tree.at(finding, cst.Call)
    if call is None:
        return None
    made = None
    if "made" in finding.evidence:
        # another statement makes the number than the one that seeds
        first, column, last, end = map(int, finding.evidence["made"].split(":"))
        made = tree.node((first, column, last, end), cst.Call)
    origin = _fixed_origin(tree, finding, made)
    if origin is not None or made is call:
        return origin
    if is_open(call) or not tree.once(call) or "repeats" in finding.evidence:
        return None
    given = argument(call, *_WORDS)
    if given is not None and not is_none(given.value):
        return _fixed_part(tree, finding, given.value)
    if "ranks" in finding.evidence:
        return None
    if given is None:
        return _numbered(tree, call)
    return Edit(changes=(with_value(given, "0"),))


def _fixed_part(tree: Tree, finding: Finding, given: cst.BaseExpression) -> Edit | None:
    """Return a constant for the part of a seed that is another in each run.

    None for the whole of one that several ranks are given.
    """
    value = _given_value(tree, finding, given)
    bound = [one.target for one in of_kind(inside(given), cst.NamedExpr)]
    holders = [one.value for one in of_kind([given, *bound], cst.Name)]
    if value is None or not _are_seeds_alone(tree, holders):
        return None
    # the one part of the number that is another in each run
    calls = of_kind(inside(value), cst.Call)
    changing = dict.fromkeys(call for call in calls if _changes(tree, call))
    sources = [one for one in changing if changing.keys().isdisjoint(tree.around(one))]
    if len(sources) != 1 or not tree.once(value) or _depends_on_a_variable(tree, sources[0]):
        return None
    number = _whole(tree, sources[0], value)
    if number is value and "ranks" in finding.evidence:
        return None
    return _zero(tree, number)


def _given_value(
    tree: Tree, finding: Finding, given: cst.BaseExpression
) -> cst.BaseExpression | None:
    """Return the expression of a seed.

    Of a variable what the text gives it once, else on the line where the finding saw it change.
    """
    if not isinstance(given, cst.Name):
        return given
    value = tree.value_of(given)
    if value is not None:
        return value
    line = finding.evidence.get("drawn_in", "")
    assignments = filter(None, map(tree.assignment_to, tree.binds(given.value)))
    values = (one.value for one in assignments if str(tree.line(one)) == line)
    return next(values, None)


def _zero(tree: Tree, number: cst.CSTNode, line: int = 0) -> Edit | None:
    """Return 0 for a number; nothing for a call of which an attribute is used."""
    if isinstance(tree.parent(number), cst.Attribute):
        return None
    return Edit(changes=((number, lambda _: cst.Integer("0")),), line=line)


def _fixed_origin(tree: Tree, finding: Finding, made: cst.Call | None) -> Edit | None:
    """Return a constant for a number that is made once and set as a seed elsewhere."""
    if made is None or finding.evidence.get("once") != "yes" or "ranks" in finding.evidence:
        return None
    first = tree.line(made)
    factory = keyword(made, "default_factory")
    if factory is not None and tree.name(factory.value) == finding.evidence["source"]:
        return Edit(changes=(with_value(factory, "lambda: 0"),), line=first)
    if not _changes(tree, made) or _depends_on_a_variable(tree, made):
        return None
    number = _whole(tree, made, _converted(tree, made))
    if not (_is_number(tree, number, made) and _is_for_seeds(tree, number, finding)):
        return None
    return _zero(tree, number, first)


def _is_for_seeds(tree: Tree, number: cst.CSTNode, finding: Finding) -> bool:
    """Return whether what a number is assigned to holds a seed and nothing else.

    Other files that use it are not seen here.
    """
    holder = tree.nearest(number, cst.Lambda, cst.FunctionDef, cst.Assign, cst.AnnAssign)
    targets: list[cst.BaseExpression] = []
    match holder:
        case cst.Assign(value=cst.Dict()) | cst.AnnAssign(value=cst.Dict()):
            pass
        case cst.Assign():
            targets = [one.target for one in holder.targets]
        case cst.AnnAssign():
            targets = [holder.target]
    names = [last_part(written(target)) for target in targets]
    are_variables = all(isinstance(target, cst.Name) for target in targets)
    if are_variables and finding.evidence.get("in_sight") == "yes":
        return _are_seeds_alone(tree, names)
    return all(map(_is_called_seed, names))


def _is_number(tree: Tree, value: cst.CSTNode, made: cst.Call) -> bool:
    """Return whether an expression around a call is a number.

    It may be text, bytes or an object that a number is made of elsewhere.
    """
    if isinstance(value, cst.BinaryOperation | cst.UnaryOperation):
        return True
    if isinstance(value, cst.Attribute):
        return value.attr.value in _NUMBERS
    function = tree.function(value)
    numbers = _NUMBERS
    if value is made:
        numbers = _NUMBERS | _GIVE_NUMBERS
    return last_part(function) in numbers or function.startswith("builtins.int")


def _converted(tree: Tree, made: cst.Call) -> cst.BaseExpression:
    """Return the largest expression around a call that only computes a number of its result."""
    number: cst.BaseExpression = made
    around = takewhile(lambda node: isinstance(node, (*_ARITHMETIC, cst.Arg)), tree.around(made))
    for node in of_kind(around, *_ARITHMETIC):
        function = node.func if isinstance(node, cst.Call) else number
        if function is not number and _root(function) not in _CONVERT:
            break
        number = node
    return number


@on_call
def worker_seed(tree: Tree, call: cst.Call, finding: Finding, number: int) -> Edit | None:
    """Return the seed of a data worker from torch's number for it.

    With it a seeded generator for the loader, if nothing else fixes that number.
    """
    loader = _loader(tree, call)
    is_reachable = last_part(tree.function(call)) == "seed" and can_bind(tree, "torch")
    has_ranks = "ranks" in finding.evidence
    if loader is None or not is_reachable or tree.is_repeated(loader) or has_ranks:
        return None
    has_generator = keyword(loader, "generator") is not None
    more = None
    if finding.evidence.get("base_seed") != "seeded" and not has_generator:
        more = with_generator(tree, loader)
    root = name_of(tree, "torch")
    seed = WORKER_SEED.format(torch=root)
    if tree.function(call).startswith("torch."):
        # torch takes the whole of it, and by another function than `torch.seed`
        seeded = in_place_of(call, f"{root}.manual_seed({seed})")
    else:
        seeded = (call, lambda node: with_number(node, f"{seed} % 2**32"))
    return Edit(changes=(seeded, *(more or Edit()).changes), imports=("torch",))


def _numbered(tree: Tree, call: cst.Call) -> Edit | None:
    """Return a seeding call with a number, as `torch.manual_seed(0)` for `torch.seed()`."""
    if call.args:
        return None
    function = tree.function(call)
    if not function.startswith("torch."):
        return Edit(changes=((call, with_number),))
    sister = WITH_NUMBER.get(last_part(function), "")
    match tree.parent(call), call.func:
        case cst.Expr(), cst.Attribute() if sister:
            return Edit(changes=((call, lambda node: with_number(called(node, sister))),))
    return None


def _changes(tree: Tree, call: cst.Call) -> bool:
    """Return whether a call gives another number in each run."""
    name = tree.function(call)
    if name in _OF_OBJECTS or name.startswith(("random.", "numpy.random.", "torch.rand")):
        return True
    return any(
        name in tables.calls("entropy", kind) for kind in ("clock", "process", "system", "load")
    )


def _depends_on_a_variable(tree: Tree, source: cst.Call) -> bool:
    """Return whether a number depends on a variable.

    `hash(name)` differs for each name, which one constant for all would change.
    """
    if tree.function(source) not in _OF_OBJECTS:
        return False
    return not all(_is_plain(tree, one.value) for one in source.args)


def _whole(tree: Tree, source: cst.Call, value: cst.BaseExpression) -> cst.CSTNode:
    """Return the largest part of a number made of constants, conversions and what changes."""
    best: cst.CSTNode = source
    expressions = of_kind([source, *tree.around(source)], cst.BaseExpression)  # type: ignore[type-abstract]
    for node in expressions:
        match node:
            case cst.BinaryOperation(operator=cst.Modulo() | cst.Multiply() | cst.FloorDivide()):
                # 0 where its left side is
                keeps_zero = node.left is best
            case _:
                keeps_zero = False
        if not (keeps_zero or _is_plain(tree, node)):
            break
        best = node
        if node is value:
            break
    return best


def _are_seeds_alone(tree: Tree, names: Iterable[str]) -> bool:
    """Return whether variables are used for seeds alone, or are called a seed.

    A time that is also measured with must stay a time.
    """
    others = list(filterfalse(_is_called_seed, names))
    uses = set(chain.from_iterable(map(tree.named, others)))
    uses.difference_update(*map(tree.binds, others))
    return all(
        any(is_seeding(tree, call) for call in of_kind(tree.around(use), cst.Call)) for use in uses
    )


def _is_called_seed(name: str) -> bool:
    return "seed" in name.lower()


def _is_plain(tree: Tree, node: cst.BaseExpression) -> bool:
    """Return whether an expression has only constants, conversions and what changes.

    No variable, and no other function's result.
    """
    calls = list(of_kind(inside(node), cst.Call))
    for call in calls:
        if tree.function(call).removeprefix("builtins.") in _CONVERSIONS or _changes(tree, call):
            continue
        # a method of what changes: `datetime.now().timestamp()`
        owner = inside(call.func.value) if isinstance(call.func, cst.Attribute) else ()
        if not any(_changes(tree, one) for one in of_kind(owner, cst.Call)):
            return False
    attributes = {one.attr for one in of_kind(inside(node), cst.Attribute)}
    names = set(of_kind(inside(node), cst.Name)) - attributes
    functions = {_root(one.func) for one in calls}
    return {one.value for one in names} <= functions | _CONVERT


def _root(function: cst.BaseExpression) -> str:
    """Return the first name of a function: `time` of `time.time`; empty where it is no name."""
    return written(function).partition(".")[0]


def _loader(tree: Tree, call: cst.Call) -> cst.Call | None:
    """Return the loader whose workers run the code around a call.

    The code stands in its `worker_init_fn`, or in the function that is named there.
    """
    around = set(tree.around(call))
    functions = of_kind(around, cst.FunctionDef)
    own = {function.name.value for function in functions}
    running = {*around, *own}
    closed = filterfalse(is_open, tree.every(cst.Call))
    given = [(loader, keyword(loader, "worker_init_fn")) for loader in closed]
    workers = [(loader, worker.value) for loader, worker in given if worker is not None]
    match [loader for loader, run in workers if not running.isdisjoint((run, written(run)))]:
        case [alone]:
            return alone
    return None


@on_call
def zeroed(tree: Tree, call: cst.Call, finding: Finding, number: int) -> Edit | None:
    """Initialize memory: `torch.empty(64)` becomes `torch.zeros(64)`."""
    if not isinstance(call.func, cst.Attribute):
        return None
    filled = {"empty": "zeros", "empty_like": "zeros_like"}.get(call.func.attr.value)
    has_layout = keyword(call, "memory_format") is not None
    if filled is None or (filled == "zeros" and has_layout):
        return None
    return Edit(changes=((call, lambda node: called(node, filled)),))
