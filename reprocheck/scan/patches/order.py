"""Orders that nothing promises: `sorted` around them, and results in the order in which they were
asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from reprocheck.scan.finding import Finding
from reprocheck.scan.patches.seeding import bound_as, can_bind
from reprocheck.scan.patches.tree import (
    Edit,
    Tree,
    called,
    is_open,
    keyword,
    last,
    positional,
    with_keyword,
    with_value,
)

_SETS = frozenset({"builtins.set", "builtins.frozenset"})
_TAKERS = frozenset(
    {f"builtins.{name}" for name in ("list", "tuple", "enumerate", "iter", "dict.fromkeys")}
)
"""Calls whose first argument is gone over."""
_LITERAL_SETS = (cst.Set, cst.SetComp)
_OPERATORS = (cst.BitOr, cst.BitAnd, cst.BitXor, cst.Subtract)


def sorted_files(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`os.listdir(".")` as `sorted(os.listdir("."))`, `list(folder.glob("*"))` as
    `sorted(folder.glob("*"))`.
    """
    call = tree.at(finding, cst.Call)
    if (
        call is None
        or tree.binds("sorted")
        or any(_is_next(tree, use) for use in _uses(tree, call))
    ):
        return None
    around = _call_around(tree, call)
    if around is not None and tree.name(around.func) == "builtins.list":
        return Edit(changes=((around.func, lambda _: cst.Name("sorted")),))
    return Edit(
        changes=((call, _iterated if around is not None and _is_next(tree, call) else _sorted),)
    )


def sorted_set(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """`enumerate(set(names))` as `enumerate(sorted(set(names)))`, and the same for loops over
    sets.
    """
    node = tree.at(finding, cst.BaseExpression)  # type: ignore[type-abstract]
    if isinstance(node, cst.Call) and tree.name(node.func) == "builtins.hash":
        return _checksum(tree, node)
    if node is None or tree.binds("sorted"):
        return None
    if (
        _is_gone_over(tree, node)
        and not _is_taker(tree, node)
        and not _is_call_of(tree, node, "builtins.zip", "builtins.map")
    ):
        return Edit(changes=((node, _sorted),))
    return _of_call(tree, node)


def _checksum(tree: Tree, call: cst.Call) -> Edit | None:
    """`hash(name)` as `zlib.crc32(name.encode())`, which is the same number in each process."""
    if is_open(call) or len(call.args) != 1 or not can_bind(tree, "zlib"):
        return None
    hashed = call.args[0].value
    text = tree.module.code_for_node(hashed)
    plain = isinstance(hashed, cst.Name | cst.Attribute | cst.SimpleString)
    given = f"{text}.encode()" if plain else f"str({text}).encode()"
    root = bound_as(tree.module.body, "zlib") or "zlib"
    number = cst.parse_expression(f"{root}.crc32({given})")
    return Edit(changes=((call, lambda _: number),), imports=("zlib",))


def in_order(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Results in the order in which they were asked for: `in_order=True`, `pool.imap`, futures
    without `as_completed`.
    """
    call = tree.at(finding, cst.Call)
    if call is None:
        return _option(tree, finding)
    for word in ("in_order", "deterministic"):
        given = keyword(call, word)
        if given is not None and isinstance(given.value, cst.Name) and given.value.value == "False":
            return Edit(changes=(with_value(given, "True"),))
    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "imap_unordered":
        return Edit(changes=((call, lambda node: called(node, "imap")),))
    return (
        _without_waiting(tree, call)
        if tree.name(call.func) == "concurrent.futures.as_completed"
        else None
    )


def one_at_a_time(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """A parallel `map` as one that calls its function for one sample after the other."""
    call = tree.at(finding, cst.Call)
    if call is not None and tree.name(call.func).rpartition(".")[2] == "map":
        return _with_one(call, "num_parallel_workers")
    given = tree.at(finding, cst.BaseExpression)  # type: ignore[type-abstract]
    arg = tree.parent(given) if given is not None else None
    if (
        not isinstance(arg, cst.Arg)
        or arg.keyword is None
        or arg.keyword.value != "num_parallel_calls"
    ):
        return None
    return Edit(changes=(with_value(arg, "1"),))


def _with_one(call: cst.Call, word: str) -> Edit | None:
    if is_open(call):
        return None
    given = keyword(call, word)
    if given is not None:
        return Edit(changes=(with_value(given, "1"),))
    return Edit(changes=((call, lambda node: with_keyword(node, word, "1")),))


def _option(tree: Tree, finding: Finding) -> Edit | None:
    """`options.deterministic = False` of tf.data."""
    target = tree.at(finding, cst.Attribute)
    assign = tree.parent(tree.parent(target) or target) if target is not None else None
    if (
        not isinstance(assign, cst.Assign)
        or len(assign.targets) != 1
        or not isinstance(assign.value, cst.Name)
    ):
        return None
    return (
        Edit(changes=((assign.value, lambda _: cst.Name("True")),))
        if assign.value.value == "False"
        else None
    )


def _without_waiting(tree: Tree, call: cst.Call) -> Edit | None:
    """The futures themselves, where they are in an order of their own."""
    if len(call.args) != 1 or is_open(call) or not _is_gone_over(tree, call):
        return None
    futures = call.args[0].value
    held = tree.value_of(futures) or futures
    if not isinstance(held, cst.List | cst.ListComp | cst.Tuple | cst.Dict | cst.DictComp):
        return None
    return Edit(changes=((call, lambda node: cst.ensure_type(node, cst.Call).args[0].value),))


def _of_call(tree: Tree, node: cst.BaseExpression) -> Edit | None:
    """The set among the arguments of a call; a list of it is sorted where it is made."""
    if not isinstance(node, cst.Call) or is_open(node):
        return None
    given = [one.value for one in positional(node)]
    sets = [one for one in given if _is_set(tree, one)]
    if not sets and given and (_is_taker(tree, node) or last(tree.name(node.func)) == "join"):
        sets = given[:1]
    if len(sets) == 1:
        if tree.name(node.func) == "builtins.list" and len(node.args) == 1:
            return Edit(changes=((node.func, lambda _: cst.Name("sorted")),))
        return Edit(changes=((sets[0], _sorted),))
    lists = [
        held
        for one in given
        if isinstance(held := tree.value_of(one), cst.Call) and _is_list_of_set(tree, held)
    ]
    return _of_call(tree, lists[0]) if not sets and len(lists) == 1 else None


def _is_list_of_set(tree: Tree, call: cst.Call) -> bool:
    return (
        tree.name(call.func) in ("builtins.list", "builtins.tuple")
        and len(call.args) == 1
        and _is_set(tree, call.args[0].value)
    )


def _is_set(tree: Tree, node: cst.BaseExpression, depth: int = 0) -> bool:
    if isinstance(node, _LITERAL_SETS):
        return True
    if isinstance(node, cst.Call):
        return tree.name(node.func) in _SETS
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, _OPERATORS) and (
            _is_set(tree, node.left, depth) or _is_set(tree, node.right, depth)
        )
    held = tree.value_of(node) if depth < 4 else None
    return held is not None and _is_set(tree, held, depth + 1)


def _is_taker(tree: Tree, node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Call) and tree.name(node.func) in _TAKERS


def _is_call_of(tree: Tree, node: cst.BaseExpression, *names: str) -> bool:
    return isinstance(node, cst.Call) and tree.name(node.func) in names


def _is_gone_over(tree: Tree, node: cst.CSTNode) -> bool:
    """Whether a loop or comprehension goes over it."""
    parent = tree.parent(node)
    return isinstance(parent, cst.For | cst.CompFor) and parent.iter is node


def _uses(tree: Tree, call: cst.Call) -> Iterator[cst.CSTNode]:
    """Where the variable that a call is assigned to is used."""
    assign = tree.parent(call)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    if isinstance(target, cst.Name):
        yield from (
            node
            for node in tree.every(cst.Name)
            if node.value == target.value and node is not target
        )


def _call_around(tree: Tree, node: cst.CSTNode) -> cst.Call | None:
    """The call whose only, or first, argument a node is."""
    arg = tree.parent(node)
    call = tree.parent(arg) if isinstance(arg, cst.Arg) else None
    return (
        call
        if isinstance(call, cst.Call)
        and call.args
        and call.args[0] is arg
        and not arg.star
        and arg.keyword is None
        else None
    )


def _is_next(tree: Tree, node: cst.CSTNode) -> bool:
    call = _call_around(tree, node)
    return call is not None and tree.name(call.func) == "builtins.next"


def _sorted(node: cst.CSTNode) -> cst.CSTNode:
    return cst.Call(func=cst.Name("sorted"), args=[_bare(node)])


def _iterated(node: cst.CSTNode) -> cst.CSTNode:
    """For `next`, which takes no list."""
    return cst.Call(func=cst.Name("iter"), args=[cst.Arg(cst.ensure_type(_sorted(node), cst.Call))])


def _bare(node: cst.CSTNode) -> cst.Arg:
    """An argument, without parentheses of its own that the call makes needless."""
    if (
        isinstance(node, cst.Name | cst.Attribute | cst.Call | cst.BinaryOperation | cst.Set)
        and len(node.lpar) == 1
    ):
        spaces = (node.lpar[0].whitespace_after, node.rpar[0].whitespace_before)
        if all(isinstance(one, cst.SimpleWhitespace) for one in spaces):
            node = node.with_changes(lpar=[], rpar=[])
    return cst.Arg(node)  # type: ignore[arg-type]
