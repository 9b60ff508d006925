"""Calls in a file of the user's that fit a cause, found in its syntax tree: they support what the
ladder shows, and prove nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from reprocheck.causes.branches import decided

CALLS = {
    "clock": (
        "time.time",
        "time.time_ns",
        "time.perf_counter",
        "time.perf_counter_ns",
        "time.monotonic",
        "time.monotonic_ns",
        "time.process_time",
        "datetime.now",
        "datetime.utcnow",
    ),
    "entropy": (
        "SystemRandom",
        "os.urandom",
        "secrets.*",
        "uuid.uuid4",
        "uuid.uuid1",
        "os.getpid",
        "torch.seed",
        "from_non_deterministic_state",
    ),
    "identity": ("uuid.uuid4", "uuid.uuid1", "os.getpid"),
    "memory": (
        "torch.empty",
        "torch.empty_like",
        "new_empty",
        "resize_",
        "numpy.empty",
        "numpy.empty_like",
        "torch.empty_strided",
    ),
    "hash": ("hash",),
    "address": ("id",),
    "listing": (
        "os.listdir",
        "os.scandir",
        "os.walk",
        "glob.glob",
        "glob.iglob",
        ".iterdir",
        ".glob",
        ".rglob",
    ),
    "temporary": (
        "tempfile.mkstemp",
        "tempfile.mkdtemp",
        "tempfile.NamedTemporaryFile",
        "tempfile.TemporaryDirectory",
        "tempfile.mktemp",
    ),
    "arrival": ("as_completed", "imap_unordered"),
    "compile": ("torch.compile",),
    "threads": ("threading.Thread", "share_memory", "share_memory_"),
    "hook": ("register_hook", "register_full_backward_hook", "register_post_accumulate_grad_hook"),
    "draw": (
        *(
            f"random.{name}"
            for name in (
                "random",
                "uniform",
                "gauss",
                "choice",
                "choices",
                "shuffle",
                "sample",
                "randint",
                "randrange",
            )
        ),
        *(
            f"numpy.random.{name}"
            for name in (
                "rand",
                "randn",
                "random",
                "uniform",
                "normal",
                "standard_normal",
                "permutation",
            )
        ),
        *(
            f"numpy.random.{name}"
            for name in ("randint", "choice", "shuffle", "beta", "binomial", "poisson")
        ),
        "torch.rand",
    ),
}
"""Kind of hint -> names that end a call: `os.listdir` stands for itself, `.glob` for a method of
anything, `secrets.*` for a module.
"""

ONLY_BARE = {
    "entropy": (
        "default_rng",
        "RandomState",
        "random.Random",
        ".seed",
        "numpy.random.seed",
        "random.seed",
        "SeedGenerator",
        "SeedSequence",
    ),
}
"""The same, for calls without any argument."""

BY_CLOCK, BY_SYSTEM = "clock path", "system path"
"""Kinds of a hint: the clock, or the system's entropy, decides which way the program goes."""
ELAPSED = "elapsed"
"""Kind of a hint: a time that was measured, and is used."""
_TELLING = ("print", "debug", "info", "warning", "log", "write", "format", "append")
"""Calls that tell or keep what they are given."""
_BUILT_IN = ("hash", "id")
_OBJECTS_OF = ("modules", "children", "parameters", "buffers")
"""Methods that give modules or tensors, which hash by address."""
OF_OBJECTS = "a set of objects"
"""What a hint calls a set that is ordered by addresses."""
_PLAIN = frozenset(
    name for kind in (str, bytes, int, float, complex, tuple, frozenset) for name in dir(kind)
)
"""The attributes of what hashes by its value."""
_A_SET, _OF_OBJECTS = "{}", "{object()}"
_KEEP_ORDER = ("list", "tuple", "enumerate", "iter", "zip", "map", "dict.fromkeys")
SEEDS = (
    "torch.manual_seed",
    "random.seed",
    "numpy.random.seed",
    "set_seed",
    "set_random_seed",
    "seed_everything",
    "seed_all",
)


Found = tuple[str, str, int]
"""Kind of a hint, what is called, the line."""


def hints_of(tree: ast.AST) -> list[Found]:
    """The hints of a file, line by line."""
    names = _aliases(tree)
    ordered = {
        id(child)
        for node in ast.walk(tree)
        if _called(node, names) == "sorted"
        for child in ast.walk(node)
        if child is not node
    }
    waits = {
        id(child)
        for node in ast.walk(tree)
        if _called(node, names).endswith("sleep")
        for child in ast.walk(node)
        if child is not node
    }
    timing = _timing(tree, names)
    found = list(_found(tree, names, _Unmeant(ordered, timing, waits, _elapsed(tree, names))))
    for kind, calls in ((BY_CLOCK, "clock"), (BY_SYSTEM, "entropy")):
        found += [(kind, name, line) for name, line in decided(tree, _calls(calls, names))]
    return sorted(found, key=lambda hint: hint[2])


def _calls(kind: str, names: dict[str, str]) -> Callable[[ast.AST], str]:
    """What tells the name of a call of a kind; "" for any other."""

    def called(node: ast.AST) -> str:
        name = _called(node, names)
        return name if _matches(name, CALLS[kind]) else ""

    return called


def assignments(tree: ast.AST, name: str) -> list[int]:
    """The lines that give a variable, or an attribute of that name, a value."""
    found: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [node.lineno] * any(
                ast.unparse(target).rpartition(".")[2] == name for target in targets
            )
    return found


class _Unmeant(NamedTuple):
    """Ids of calls that stand where they do no harm: within `sorted(...)`, measuring time, saying
    how long to wait.

    Of those that measure time, `elapsed` are the ones at whose difference from an earlier time more
    than a message is made.
    """

    ordered: set[int]
    timing: set[int]
    waits: set[int]
    elapsed: set[int]


def _timing(tree: ast.AST, names: dict[str, str]) -> set[int]:
    """Ids of calls that only measure how long something takes: `start = clock()`, `clock() -
    start`. Not where something else is subtracted from a time, as in `now - born`.
    """
    kept = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and _matches(_called(node.value, names), CALLS["clock"])
    }
    found = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            if (
                isinstance(node.left, ast.Name)
                and node.left.id in kept
                and not _is_time(node.right, kept, names)
            ):
                found.discard(id(kept[node.left.id]))
            found.add(id(node.left))
    return found


def _elapsed(tree: ast.AST, names: dict[str, str]) -> set[int]:
    """Ids of the clocks in `clock() - start`, where that is more than a part of a message."""
    told = {
        id(part) for node in ast.walk(tree) if _is_message(node, names) for part in ast.walk(node)
    }
    differences = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
    ]
    return {
        id(node.left)
        for node in differences
        if id(node) not in told and _matches(_called(node.left, names), CALLS["clock"])
    }


def _is_message(node: ast.AST, names: dict[str, str]) -> bool:
    """What is printed, logged or put into a text."""
    return isinstance(node, ast.JoinedStr) or _called(node, names).rpartition(".")[2] in _TELLING


def _is_time(node: ast.AST, kept: Iterable[str], names: dict[str, str]) -> bool:
    """Whether an operand may be a time that was taken: a clock's, a variable of one, an
    attribute.
    """
    if isinstance(node, ast.Name):
        return node.id in kept
    return isinstance(node, ast.Attribute | ast.Subscript) or _matches(
        _called(node, names), CALLS["clock"]
    )


def _found(tree: ast.AST, names: dict[str, str], unmeant: _Unmeant) -> Iterator[Found]:
    private = _private(tree, names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if id(node) not in unmeant.waits:
                yield from _drawn(node, private)
                hints = _of_call(node, names, id(node) in unmeant.ordered)
                yield from (
                    hint for hint in hints if not _is_harmless(hint[0], node, tree, unmeant)
                )
                if id(node) in unmeant.elapsed:
                    yield ELAPSED, _called(node, names), node.lineno
        elif isinstance(node, ast.Assign) and any(_is_hash_seed(target) for target in node.targets):
            yield "late hash seed", 'os.environ["PYTHONHASHSEED"]', node.lineno
        elif isinstance(node, ast.Assign) and any(
            ast.unparse(target).endswith("cudnn.benchmark") for target in node.targets
        ):
            if isinstance(node.value, ast.Constant) and node.value.value is True:
                yield "benchmark", "torch.backends.cudnn.benchmark", node.lineno
        elif isinstance(node, ast.For | ast.comprehension) and _is_set(node.iter, names):
            kind, what = _of_set(node.iter, names, "a loop over {}")
            if isinstance(node, ast.For) and _has_own_attributes(node):
                kind, what = "address", "a loop over a set of objects"
            yield kind, what, node.iter.lineno
        elif isinstance(node, ast.ClassDef) and any(
            ast.unparse(base).endswith("Function") for base in node.bases
        ):
            yield "custom backward", f"class {node.name}", node.lineno


def _is_harmless(kind: str, call: ast.Call, tree: ast.AST, unmeant: _Unmeant) -> bool:
    """Whether a call does nothing of its kind: a clock that measures, a parallel map of what draws
    nothing.
    """
    if kind == "clock":
        return id(call) in unmeant.timing
    return kind == "parallel map" and _maps_without_a_call(call, tree)


def _maps_without_a_call(call: ast.Call, tree: ast.AST) -> bool:
    """Whether a `map` is given a function of the same file that calls nothing: it can draw
    nothing.
    """
    by_name = [keyword.value for keyword in call.keywords if keyword.arg == "map_func"]
    given = next(iter([*call.args, *by_name]), None)
    functions: list[ast.AST] = [given] if isinstance(given, ast.Lambda) else []
    if isinstance(given, ast.Name):
        functions = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == given.id
        ]
    return bool(functions) and not any(
        isinstance(part, ast.Call) for function in functions for part in ast.walk(function)
    )


def _private(tree: ast.AST, names: dict[str, str]) -> set[str]:
    """Names of variables and attributes that hold a generator that nobody seeds, or that is seeded
    from the system.
    """
    found: set[str] = set()
    for node in ast.walk(tree):
        found |= {
            ast.unparse(target).rpartition(".")[2]
            for target, value in _assigned(node)
            if _unseeded(value, names)
        }
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "seed"
            and not node.args
        ):
            found.add(ast.unparse(node.func.value).rpartition(".")[2])
    return found - set(names)


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """(target, value) of an assignment, those of a tuple one by one."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if (
                isinstance(target, ast.Tuple)
                and isinstance(node.value, ast.Tuple)
                and len(target.elts) == len(node.value.elts)
            ):
                yield from zip(target.elts, node.value.elts, strict=True)
            else:
                yield target, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value


def _unseeded(call: ast.expr, names: dict[str, str]) -> bool:
    """Whether an expression makes a generator without a seed."""
    name = _called(call, names)
    bare = isinstance(call, ast.Call) and _bare(call)
    return name.endswith("SystemRandom") or (bare and _matches(name, ONLY_BARE["entropy"]))


def _bare(call: ast.Call) -> bool:
    """Whether a call is given nothing, or something that is None or may be."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return not given or (len(given) == 1 and _may_be_none(given[0]))


def _may_be_none(node: ast.AST) -> bool:
    if isinstance(node, ast.IfExp):
        return _may_be_none(node.body) or _may_be_none(node.orelse)
    return (isinstance(node, ast.Constant) and node.value is None) or (
        isinstance(node, ast.BoolOp) and _may_be_none(node.values[-1])
    )


def _drawn(call: ast.Call, private: set[str]) -> Iterator[Found]:
    """A draw from such a generator: its method is called, or it is handed over."""
    of = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    given = (*of, *call.args, *(keyword.value for keyword in call.keywords))
    if any(
        isinstance(one, ast.Name | ast.Attribute) and ast.unparse(one).rpartition(".")[2] in private
        for one in given
    ):
        yield "private", ast.unparse(call.func)[:80], call.lineno


def _of_call(
    node: ast.Call, names: dict[str, str], ordered: bool
) -> Iterator[tuple[str, str, int]]:
    name = _called(node, names)
    if not name:
        return
    for kind, patterns in CALLS.items():
        if _matches(name, patterns) and not (ordered and kind in ("listing", "temporary")):
            yield kind, name, node.lineno
    if _bare(node):
        for kind, patterns in ONLY_BARE.items():
            if _matches(name, patterns):
                yield kind, name, node.lineno
    elif _matches(name, SEEDS):
        yield "seed", name, node.lineno
    keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
    if keywords.get("key") == "id":
        yield "address", f"{name}(key=id)", node.lineno
    if keywords.get("in_order") == "False":
        yield "arrival", "in_order=False", node.lineno
    if keywords.get("num_parallel_calls", "1") not in ("1", "None"):
        yield "parallel map", name, node.lineno
    if name.endswith("train_test_split") and "random_state" not in keywords:
        yield "split", name, node.lineno
    if (
        name in _KEEP_ORDER
        and not ordered
        and (sets := [argument for argument in node.args if _is_set(argument, names)])
    ):
        yield *_of_set(sets[0], names, f"{name} of {{}}"), node.lineno


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(
        name.startswith(pattern[:-1])
        if pattern.endswith("*")
        else f".{name}".endswith("." + pattern.lstrip(".")) and _rooted(name, pattern)
        for pattern in patterns
    )


def _rooted(name: str, pattern: str) -> bool:
    """A pattern with a dot in front asks for a method; one without any dot takes a bare name or the
    end of a dotted one, but for functions of Python's own.
    """
    if pattern.startswith("."):
        return "." in name
    return name == pattern or pattern not in _BUILT_IN


def _aliases(tree: ast.AST) -> dict[str, str]:
    """What names in a file stand for: `np` -> `numpy`, `listdir` -> `os.listdir`; and which are
    given a set somewhere.
    """
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {
                alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names
            }
    names |= dict.fromkeys(_by_address(tree), _OF_OBJECTS)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_set(node.value, names):
            kind = _OF_OBJECTS + "s" if _holds_objects(node.value, names) else _A_SET
            names |= {target.id: kind for target in node.targets if isinstance(target, ast.Name)}
    return names


def _by_address(tree: ast.AST) -> list[str]:
    """Classes of a file whose objects hash by address: none says how to hash or compare, and none
    has a base that might.
    """
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and not node.decorator_list:
            bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
            own = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
            own |= {ast.unparse(target) for one in node.body for target, _ in _assigned(one)}
            if all(base in ("object", "Module", *found) for base in bases) and not own & {
                "__hash__",
                "__eq__",
            }:
                found.append(node.name)
    return found


def _of_set(node: ast.AST, names: dict[str, str], what: str) -> tuple[str, str]:
    """Kind of the hint and words for something that goes through a set: objects lie in it by
    address. `what` has `{}` for the set.
    """
    if _holds_objects(node, names):
        return "address", what.format(OF_OBJECTS)
    return "set order", what.format("a set")


def _has_own_attributes(loop: ast.For) -> bool:
    """Whether the body of a loop asks what it loops over for an attribute that no text and no
    number has: these are objects.
    """
    if not isinstance(loop.target, ast.Name):
        return False
    inside = (node for statement in loop.body for node in ast.walk(statement))
    of_target = (
        node
        for node in inside
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    )
    return any(
        node.value.id == loop.target.id and node.attr not in _PLAIN
        for node in of_target
        if isinstance(node.value, ast.Name)
    )


def _holds_objects(node: ast.AST, names: dict[str, str]) -> bool:
    """Whether what is put into a set are objects that hash by address."""
    if isinstance(node, ast.Name):
        return names.get(node.id) == _OF_OBJECTS + "s"
    if isinstance(node, ast.Set | ast.List | ast.Tuple):
        return bool(node.elts) and all(_is_object(one, names) for one in node.elts)
    if isinstance(node, ast.SetComp | ast.ListComp | ast.GeneratorExp):
        return _is_object(node.elt, names) or _passes_objects(node, names)
    if not isinstance(node, ast.Call):
        return False
    gives_objects = _called(node, names).rpartition(".")[2] in _OBJECTS_OF
    return gives_objects or any(_holds_objects(argument, names) for argument in node.args)


def _passes_objects(
    node: ast.SetComp | ast.ListComp | ast.GeneratorExp, names: dict[str, str]
) -> bool:
    """Whether a comprehension hands on the objects that its loop is given: `m for m in
    net.modules()`.
    """
    loop = node.generators[0]
    return ast.unparse(node.elt) == ast.unparse(loop.target) and _holds_objects(loop.iter, names)


def _is_object(node: ast.AST, names: dict[str, str]) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and names.get(node.func.id) == _OF_OBJECTS
    )


def _called(node: ast.AST, names: dict[str, str]) -> str:
    """The dotted name of what is called, imports resolved; of a method of something unnamed, its
    name behind a dot.
    """
    if not isinstance(node, ast.Call):
        return ""
    parts: list[str] = []
    at: ast.AST = node.func
    while isinstance(at, ast.Attribute):
        parts.append(at.attr)
        at = at.value
    if isinstance(at, ast.Name):
        known = names.get(at.id, at.id)
        return ".".join([at.id if known.startswith("{") else known, *reversed(parts)])
    return "." + ".".join(reversed(parts)) if parts else ""


def _is_set(node: ast.AST, names: dict[str, str]) -> bool:
    """A set by its own words: a display, a comprehension, `set(...)`, and what `enumerate` or
    `list` makes of one.
    """
    if isinstance(node, ast.Set | ast.SetComp) or (
        isinstance(node, ast.Name) and names.get(node.id) in (_A_SET, _OF_OBJECTS + "s")
    ):
        return True
    if isinstance(node, ast.BinOp) and isinstance(
        node.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.BitXor
    ):
        return _is_set(node.left, names) or _is_set(node.right, names)
    called = _called(node, names)
    return called in ("set", "frozenset") or (
        called.endswith((".union", ".intersection", ".difference")) and "set" in ast.unparse(node)
    )


def _is_hash_seed(target: ast.AST) -> bool:
    return (
        isinstance(target, ast.Subscript)
        and isinstance(target.slice, ast.Constant)
        and target.slice.value == "PYTHONHASHSEED"
    )
