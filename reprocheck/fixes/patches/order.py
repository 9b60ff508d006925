"""Fix orders that nothing promises.

`sorted` around them, and results in the order in which they were asked for.
"""

from __future__ import annotations

from functools import partial

import libcst as cst

from reprocheck.fixes.edits.changes import Edit, called, with_keyword, with_value
from reprocheck.fixes.edits.imports import can_bind, name_of
from reprocheck.fixes.edits.tree import Tree, is_open, keyword, only, positional, written
from reprocheck.scan.finding import Finding
from reprocheck.scan.index import of_kind
from reprocheck.scan.names import last_part

_DEEPEST = 4
"""How many variables are followed from a name to a set."""

_TAKERS = frozenset(
    {f"builtins.{name}" for name in ("list", "tuple", "enumerate", "iter", "dict.fromkeys")}
)
"""Calls whose first argument is gone over."""
_LISTS = frozenset({"builtins.list", "builtins.tuple"})
_KEEP_ORDER = _TAKERS | {"builtins.zip", "builtins.map"}
"""Calls that give what they are given in the same order."""


def sorted_files(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Sort a list of files: `os.listdir(".")` becomes `sorted(os.listdir("."))`.

    `list(folder.glob("*"))` becomes `sorted(folder.glob("*"))`.
    """
    call = tree.at(finding, cst.Call)
    if call is None or tree.binds("sorted"):
        return None
    match tree.parent(call):
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target), *_]):
            uses = {*tree.named(target.value)} - {target}
            if any(tree.function(_taker(tree, use)) == "builtins.next" for use in uses):
                return None
    taker = _taker(tree, call)
    match tree.function(taker):
        case "builtins.list":
            return _sorted_instead(taker)
        case "builtins.next":
            # it takes no list
            return Edit(changes=((call, lambda node: _call("iter", _sorted(node))),))
    return Edit(changes=((call, _sorted),))


def sorted_set(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Sort a set before iteration: `enumerate(set(names))` becomes `enumerate(sorted(set(names)))`.

    Likewise in loops.
    """
    node = tree.at(finding, cst.BaseExpression)  # type: ignore[type-abstract]
    if node is None:
        return None
    function = tree.function(node)
    if function == "builtins.hash":
        return _checksum(tree, cst.ensure_type(node, cst.Call))
    if tree.binds("sorted"):
        return None
    if _is_gone_over(tree, node) and function not in _KEEP_ORDER:
        return Edit(changes=((node, _sorted),))
    return _of_call(tree, node)


def _checksum(tree: Tree, call: cst.Call) -> Edit | None:
    """Replace `hash(name)` by `zlib.crc32(name.encode())`, the same number in each process."""
    hashed = only(call)
    if hashed is None or not can_bind(tree, "zlib"):
        return None
    text = tree.module.code_for_node(hashed)
    # expressions below which `.encode()` can be written as they stand
    if not isinstance(hashed, (cst.Name, cst.Attribute, cst.SimpleString)):
        text = f"str({text})"
    number = cst.parse_expression(f"{name_of(tree, 'zlib')}.crc32({text}.encode())")
    return Edit(changes=((call, lambda _: number),), imports=("zlib",))


def in_order(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Return results in the order in which they were asked for.

    `in_order=True`, `pool.imap`, futures without `as_completed`.
    """
    call = tree.at(finding, cst.Call)
    if call is None:
        # `options.deterministic = False` of tf.data
        option = tree.at(finding, cst.Attribute)
        value = None if option is None else tree.assigned_to(option)
        if value is None or written(value) != "False":
            return None
        return Edit(changes=((value, lambda _: cst.Name("True")),))
    match keyword(call, "in_order", "deterministic"):
        case cst.Arg(value=cst.Name(value="False")) as given:
            return Edit(changes=(with_value(given, "True"),))
    match call.func:
        case cst.Attribute(attr=cst.Name(value="imap_unordered")):
            return Edit(changes=((call, lambda node: called(node, "imap")),))
    if tree.function(call) != "concurrent.futures.as_completed":
        return None
    return _without_waiting(tree, call)


def one_at_a_time(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Return a parallel pipeline as one that calls its function for one sample after the other."""
    call = tree.at(finding, cst.Call)
    # what takes the number of its workers in MindSpore
    if call is not None and last_part(tree.function(call)) in ("map", "batch", "GeneratorDataset"):
        if is_open(call):
            return None
        word = "num_parallel_workers"
        workers = keyword(call, word)
        if workers is not None:
            return Edit(changes=(with_value(workers, "1"),))
        return Edit(changes=((call, lambda node: with_keyword(node, word, "1")),))
    given = tree.at(finding, cst.BaseExpression)  # type: ignore[type-abstract]
    if given is None:
        return None
    match tree.parent(given):
        case cst.Arg(keyword=cst.Name(value="num_parallel_calls")) as argument:
            return Edit(changes=(with_value(argument, "1"),))
    return None


def _without_waiting(tree: Tree, call: cst.Call) -> Edit | None:
    """Return the futures without `as_completed`, if they have an order of their own."""
    futures = only(call)
    if futures is None or not _is_gone_over(tree, call):
        return None
    held = tree.value_of(futures) or futures
    # what holds futures in an order of its own
    if not isinstance(held, (cst.List, cst.ListComp, cst.Tuple, cst.Dict, cst.DictComp)):
        return None
    return Edit(changes=((call, lambda node: cst.ensure_type(node, cst.Call).args[0].value),))


def _of_call(tree: Tree, node: cst.BaseExpression) -> Edit | None:
    """Return the set among the arguments of a call; a list of it is sorted where it is made."""
    if not isinstance(node, cst.Call) or is_open(node):
        return None
    function = tree.function(node)
    given = [one.value for one in positional(node)]
    sets = list(filter(partial(_is_set, tree), given))
    goes_over_first = function in _TAKERS or last_part(function) == "join"
    if goes_over_first:
        sets = sets or given[:1]
    match sets:
        case []:
            # the set in `list(names)`, where one of the variables alone holds such a list
            lists = []
            for value in of_kind(map(tree.value_of, given), cst.Call):
                listed = only(value)
                if tree.function(value) in _LISTS and listed and _is_set(tree, listed):
                    lists.append(value)
            return _of_call(tree, lists[0]) if len(lists) == 1 else None
        case [_] if function == "builtins.list":
            return _sorted_instead(node)
        case [one]:
            return Edit(changes=((one, _sorted),))
    return None


def _is_set(tree: Tree, node: cst.BaseExpression, depth: int = 0) -> bool:
    if isinstance(node, cst.BinaryOperation):
        sides = (node.left, node.right)
        is_of_sets = isinstance(node.operator, (cst.BitOr, cst.BitAnd, cst.BitXor, cst.Subtract))
        return is_of_sets and any(_is_set(tree, side, depth) for side in sides)
    makes_set = tree.function(node) in {"builtins.set", "builtins.frozenset"}
    if makes_set or isinstance(node, (cst.Set, cst.SetComp)):
        return True
    if depth >= _DEEPEST:
        return False
    held = tree.value_of(node)
    return held is not None and _is_set(tree, held, depth + 1)


def _is_gone_over(tree: Tree, node: cst.CSTNode) -> bool:
    """Return whether a loop or comprehension iterates over an expression."""
    parent = tree.parent(node)
    return isinstance(parent, cst.For | cst.CompFor) and parent.iter is node


def _taker(tree: Tree, node: cst.CSTNode) -> cst.Call | None:
    """Return the call whose first argument a node is."""
    argument, around, *_ = tree.around(node)
    match around:
        case cst.Call(args=[cst.Arg(keyword=None, star="") as first, *_]) if first is argument:
            return around
    return None


def _sorted_instead(call: cst.Call | None) -> Edit:
    """Replace a call of `list` by `sorted(...)`."""
    return Edit(changes=((cst.ensure_type(call, cst.Call).func, lambda _: cst.Name("sorted")),))


def _sorted(node: cst.CSTNode) -> cst.CSTNode:
    if isinstance(node, cst.Name | cst.Attribute | cst.Call | cst.BinaryOperation | cst.Set):
        # the call makes one pair of parentheses needless, where no line ends beside it
        match node.lpar, node.rpar:
            case (
                [cst.LeftParen(whitespace_after=cst.SimpleWhitespace())],
                [cst.RightParen(whitespace_before=cst.SimpleWhitespace())],
            ):
                node = node.with_changes(lpar=[], rpar=[])
    return _call("sorted", node)


def _call(function: str, argument: cst.CSTNode) -> cst.CSTNode:
    return cst.Call(func=cst.Name(function), args=[cst.Arg(argument)])  # type: ignore[arg-type]
