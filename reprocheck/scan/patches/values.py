"""Seeds that are other numbers in each run: a constant for what changes in them."""

from __future__ import annotations

import libcst as cst

from reprocheck.scan.checks import tables
from reprocheck.scan.finding import Finding
from reprocheck.scan.patches.seeding import bound_as, can_bind, is_seeding, with_generator
from reprocheck.scan.patches.tree import (
    Change,
    Edit,
    Tree,
    called,
    inside,
    is_none,
    is_open,
    keyword,
    last,
    positional,
    with_value,
    written,
)

_WORDS = (
    "seed",
    "random_state",
    "random_seed",
    "np_seed",
    "data_seed",
    "x",
    "a",
    "entropy",
    "default",
)
_CONVERT = frozenset(
    {
        "int",
        "round",
        "abs",
        "float",
        "hash",
        "id",
        "str",
        "pow",
        "divmod",
        "len",
        "min",
        "max",
        "repr",
    }
)
_KINDS = ("clock", "process", "system", "load")
_ARITHMETIC = (cst.BinaryOperation, cst.UnaryOperation, cst.Call, cst.Attribute)
"""What computes a number of another."""
_NUMBERS = frozenset(
    {
        "int",
        "float",
        "round",
        "abs",
        "hash",
        "id",
        "len",
        "timestamp",
        "microsecond",
        "second",
        "time_low",
    }
)
"""Conversions, methods and attributes that give a number."""
_GIVE_NUMBERS = frozenset(
    {
        "time",
        "time_ns",
        "perf_counter",
        "perf_counter_ns",
        "monotonic",
        "monotonic_ns",
        "process_time",
        "getpid",
        "getppid",
    }
    | {
        "randint",
        "random",
        "randrange",
        "getrandbits",
        "randbelow",
        "randbits",
        "rand",
        "uniform",
        "integers",
    }
)
"""Clocks, process ids and draws that give one."""
_DRAWS = ("random.", "numpy.random.", "torch.rand")
_WORKER = "{torch}.initial_seed() % 2**32"
"""The number that torch gives each data worker: another one in each, the same in each run where the
loader's generator is seeded.
"""


def fixed_seed(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`manual_seed(int(time.time()))` as `manual_seed(0)`, `seed(rank + time_ns())` as `seed(rank +
    0)`.

    Where the number is made in another statement than the one that seeds, that one is changed:
    `seed = int(time.time())` as `seed = 0`.
    """
    call = tree.at(finding, cst.Call)
    if call is None:
        return None
    made = _made(tree, finding)
    origin = _fixed_origin(tree, finding, made) if made is not None else None
    if origin is not None or made is call:
        return origin
    if is_open(call) or not tree.once(call):
        return None
    given = keyword(call, *_WORDS) or next(iter(positional(call)), None)
    if given is None:
        return _numbered(tree, call)
    if is_none(given.value):
        return Edit(changes=(with_value(given, "0"),))
    value = _held(tree, given.value, finding) if isinstance(given.value, cst.Name) else given.value
    if (
        value is None
        or not tree.once(value)
        or not all(_is_seed_alone(tree, name) for name in _variables(given.value))
    ):
        return None
    sources = _sources(tree, value)
    if any(_depends_on_a_variable(tree, one) for one in sources):
        return None
    changing = [_whole(tree, one, value) for one in sources]
    if len(changing) != 1 or isinstance(tree.parent(changing[0]), cst.Attribute):
        return None
    return Edit(changes=((changing[0], lambda _: cst.Integer("0")),))


def _held(tree: Tree, name: cst.Name, finding: Finding) -> cst.BaseExpression | None:
    """What a variable holds: what the text gives it once, else what it is given on the line on
    which the finding saw the change made.
    """
    value = tree.value_of(name)
    if value is not None:
        return value
    line = finding.evidence.get("drawn_in", "")
    for bound in tree.binds(name.value):
        assign = tree.parent(tree.parent(bound) or bound)
        if (
            isinstance(assign, cst.Assign)
            and len(assign.targets) == 1
            and str(tree.line(assign)) == line
        ):
            return assign.value
    return None


def _made(tree: Tree, finding: Finding) -> cst.Call | None:
    """What makes the number, where that is another statement than the one that seeds."""
    span = finding.evidence.get("made")
    if span is None:
        return None
    first, column, last, end = map(int, span.split(":"))
    return tree.node((first, column, last, end), cst.Call)


def _fixed_origin(tree: Tree, finding: Finding, made: cst.Call) -> Edit | None:
    """A constant for a number that is set as a seed elsewhere, where the program makes it once."""
    if finding.evidence.get("once") != "yes":
        return None
    first = tree.line(made)
    factory = keyword(made, "default_factory")
    if factory is not None and tree.name(factory.value) == finding.evidence["source"]:
        return Edit(changes=(with_value(factory, "lambda: 0"),), line=first)
    if not _changes(tree, made) or _depends_on_a_variable(tree, made):
        return None
    number = _whole(tree, made, _converted(tree, made))
    if (
        isinstance(tree.parent(number), cst.Attribute)
        or not _is_number(tree, number, made)
        or not _is_for_seeds(tree, number, finding)
    ):
        return None
    return Edit(changes=((number, lambda _: cst.Integer("0")),), line=first)


def _is_for_seeds(tree: Tree, number: cst.CSTNode, finding: Finding) -> bool:
    """Whether what a number is assigned to holds a seed and nothing else: other files that use it
    are not seen here.
    """
    for around in tree.around(number):
        if isinstance(around, cst.Lambda | cst.FunctionDef):
            return True
        if isinstance(around, cst.Assign | cst.AnnAssign):
            targets = (
                [one.target for one in around.targets]
                if isinstance(around, cst.Assign)
                else [around.target]
            )
            names = [last(written(target)) for target in targets]
            if isinstance(around.value, cst.Dict):
                return True
            in_sight = finding.evidence["in_sight"] == "yes" and all(
                isinstance(target, cst.Name) for target in targets
            )
            return all(
                _is_seed_alone(tree, name) if in_sight else "seed" in name.lower() for name in names
            )
    return True


def _is_number(tree: Tree, value: cst.CSTNode, made: cst.Call) -> bool:
    """Whether an expression around a call is a number, and not text, bytes or an object that one is
    made of elsewhere.
    """
    if isinstance(value, cst.BinaryOperation | cst.UnaryOperation):
        return True
    if isinstance(value, cst.Attribute):
        return value.attr.value in _NUMBERS
    name = tree.name(cst.ensure_type(value, cst.Call).func)
    return (
        last(name) in _NUMBERS
        or name.startswith("builtins.int")
        or (value is made and last(name) in _GIVE_NUMBERS)
    )


def _converted(tree: Tree, made: cst.Call) -> cst.BaseExpression:
    """The largest expression around a call that only computes a number of what the call gives."""
    number: cst.BaseExpression = made
    for node in tree.around(made):
        if isinstance(node, cst.Arg):
            continue
        if not isinstance(node, _ARITHMETIC):
            return number
        if isinstance(node, cst.Call) and node.func is not number and not _converts(node):
            return number
        number = node
    return number


def _converts(call: cst.Call) -> bool:
    """`int(...)`, `int.from_bytes(...)` and the like."""
    return bool(_parts(call.func)) and _parts(call.func) <= _CONVERT


def worker_seed(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """The seed of a data worker from torch's number for it, and a seeded generator for the loader
    where nothing else fixes that number.
    """
    call = tree.at(finding, cst.Call)
    loader = _loader(tree, call) if call is not None else None
    if (
        call is None
        or loader is None
        or is_open(call)
        or not can_bind(tree, "torch")
        or tree.is_repeated(loader)
    ):
        return None
    if last(tree.name(call.func)) != "seed":
        return None
    change = (call, _seeded_by_worker(tree, call))
    seeded = (
        keyword(loader, "generator") is not None or finding.evidence.get("base_seed") == "seeded"
    )
    more = None if seeded else with_generator(tree, loader)
    return Edit(changes=(change, *(more.changes if more else ())), imports=("torch",))


def _seeded_by_worker(tree: Tree, call: cst.Call) -> Change:
    """A seeding call with the number of the worker; torch takes the whole of it, and by another
    function than `torch.seed`.
    """
    root = bound_as(tree.module.body, "torch") or "torch"
    if tree.name(call.func).startswith("torch."):
        own = cst.parse_expression(f"{root}.manual_seed({root}.initial_seed())")
        return lambda _: own
    argument = cst.Arg(cst.parse_expression(_WORKER.format(torch=root)))
    return lambda node: cst.ensure_type(node, cst.Call).with_changes(args=[argument])


def _numbered(tree: Tree, call: cst.Call) -> Edit | None:
    """A seeding call without a number; `torch.seed()` takes none, and has a sister that does."""
    if call.args:
        return None
    if not tree.name(call.func).startswith("torch."):
        return Edit(
            changes=(
                (
                    call,
                    lambda node: cst.ensure_type(node, cst.Call).with_changes(
                        args=[cst.Arg(cst.Integer("0"))]
                    ),
                ),
            )
        )
    sister = {"seed": "manual_seed", "seed_all": "manual_seed_all"}.get(last(tree.name(call.func)))
    if (
        sister is None
        or not isinstance(call.func, cst.Attribute)
        or not isinstance(tree.parent(call), cst.Expr)
    ):
        return None
    zero = [cst.Arg(cst.Integer("0"))]
    return Edit(
        changes=(
            (
                call,
                lambda node: cst.ensure_type(called(node, sister), cst.Call).with_changes(
                    args=zero
                ),
            ),
        )
    )


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
        name in ("builtins.hash", "builtins.id")
        or name.startswith(_DRAWS)
        or any(name in tables.words("entropy", kind) for kind in _KINDS)
    )


def _depends_on_a_variable(tree: Tree, source: cst.Call) -> bool:
    """Whether a number stands for something: `hash(name)` is another one for each name, and one
    constant for all would change that.
    """
    if tree.name(source.func) not in ("builtins.hash", "builtins.id"):
        return False
    return not all(_is_plain(tree, one.value) for one in source.args)


def _whole(tree: Tree, source: cst.Call, value: cst.BaseExpression) -> cst.CSTNode:
    """The largest part of a number that has nothing in it but constants, conversions and what
    changes.
    """
    best: cst.CSTNode = source
    for node in [source, *tree.around(source)]:
        if isinstance(node, cst.BaseExpression):
            if not _is_plain(tree, node) and not _is_zero_if_left_is(node, best):
                break
            best = node
        if node is value:
            break
    return best


def _is_zero_if_left_is(node: cst.BaseExpression, left: cst.CSTNode) -> bool:
    """`x % n` and the like, which are 0 where x is."""
    zero = (cst.Modulo, cst.Multiply, cst.FloorDivide)
    return (
        isinstance(node, cst.BinaryOperation)
        and node.left is left
        and isinstance(node.operator, zero)
    )


def _variables(seed: cst.BaseExpression) -> list[str]:
    """The variables that hold a seed: the one that is given, and those that are bound on the
    way.
    """
    bound = [one.target for one in inside(seed) if isinstance(one, cst.NamedExpr)]
    return [one.value for one in (seed, *bound) if isinstance(one, cst.Name)]


def _is_seed_alone(tree: Tree, name: str) -> bool:
    """Whether a variable is used for seeds alone, or is called one: a time that is also measured
    with must stay a time.
    """
    if "seed" in name.lower():
        return True
    bound = tree.binds(name)
    uses = [one for one in tree.every(cst.Name) if one.value == name and one not in bound]
    return all(
        any(
            isinstance(around, cst.Call) and is_seeding(tree, around) for around in tree.around(one)
        )
        for one in uses
    )


def _is_plain(tree: Tree, node: cst.BaseExpression) -> bool:
    """Whether nothing but constants, conversions and what changes has a part in it: no variable,
    and no other function's result.
    """
    if not all(
        _is_conversion(tree, one) or _changes(tree, one)
        for one in inside(node)
        if isinstance(one, cst.Call)
    ):
        return False
    attributes = {one.attr for one in inside(node) if isinstance(one, cst.Attribute)}
    names = {
        one.value for one in inside(node) if isinstance(one, cst.Name) and one not in attributes
    }
    functions = {
        part for one in inside(node) if isinstance(one, cst.Call) for part in _parts(one.func)
    }
    return names <= functions | _CONVERT


def _is_conversion(tree: Tree, call: cst.Call) -> bool:
    """A function that only converts its argument, or a method of what changes:
    `datetime.now().timestamp()`.
    """
    if tree.name(call.func).removeprefix("builtins.") in (*_CONVERT, "int.from_bytes"):
        return True
    owner = call.func.value if isinstance(call.func, cst.Attribute) else None
    return owner is not None and any(
        isinstance(one, cst.Call) and _changes(tree, one) for one in inside(owner)
    )


def _parts(function: cst.BaseExpression) -> set[str]:
    """The first name of a function: `time` of `time.time`."""
    while isinstance(function, cst.Attribute):
        function = function.value
    return {function.value} if isinstance(function, cst.Name) else set()


def _loader(tree: Tree, call: cst.Call) -> cst.Call | None:
    """The loader whose workers run the code around a call: it stands in its `worker_init_fn`, or in
    the function that is named there.
    """
    own = {one.name.value for one in tree.around(call) if isinstance(one, cst.FunctionDef)}
    around = set(tree.around(call))
    found = []
    for loader in tree.every(cst.Call):
        given = keyword(loader, "worker_init_fn")
        if (
            given is not None
            and (given.value in around or written(given.value) in own)
            and not is_open(loader)
        ):
            found.append(loader)
    return found[0] if len(found) == 1 else None
