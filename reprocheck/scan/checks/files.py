"""Orders that the file system or a random name decides, and state that an earlier run left."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from reprocheck.rules.catalogue import Severity
from reprocheck.scan.checks import sequences, streams, unread
from reprocheck.scan.checks.streams import at, every
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call, Condition, Step
from reprocheck.scan.values import Constant, Derived, Items, Made, Part, Value

_LISTS = frozenset(
    {
        "os.listdir",
        "os.scandir",
        "os.walk",
        "glob.glob",
        "glob.iglob",
        "tensorflow.io.gfile.listdir",
        "tensorflow.io.gfile.glob",
        "os.fwalk",
    }
)
_ENTRIES = frozenset({"walk", "fwalk", "scandir"})
"""What these give cannot be sorted as it is."""
_PATH_LISTS = frozenset({"iterdir", "rglob"})
_TEMPORARY = (
    "tempfile.mkstemp",
    "tempfile.mkdtemp",
    "tempfile.mktemp",
    "tempfile.NamedTemporaryFile",
    "tempfile.TemporaryDirectory",
)
_RANDOM_NAMES = frozenset(
    {*_TEMPORARY, "uuid.uuid4", "uuid.uuid1", "secrets.token_hex", "secrets.token_urlsafe"}
)
_RESTORES = frozenset(
    {
        "load_state_dict",
        "load_param_into_net",
        "set_weights",
        "set_state_dict",
        "load",
        "setstate",
        "set_rng_state",
    }
)
_DATA = re.compile(
    r"(?:^|_)(?:data|sample|image|file|path|example|corpus|vocab|shard|read|prepare|split|build|main|train|fold|scan|label|class)"
)
_CHORES = re.compile(
    r"^_?on_|log|monitor|plot|config|upload|download|clean|remove|delete|copy|check|show|print|save|export|convert|checkpoint|ckpt|cache|zip|test|lock"
)
_MOST = 200
_TESTS = frozenset({"exists", "is_file", "isfile", "is_dir", "isdir"})
_LOADS = frozenset(
    {
        "load",
        "load_checkpoint",
        "read_text",
        "read_bytes",
        "load_weights",
        "load_model",
        "restore",
        "open",
        "from_pretrained",
    }
)
_SAVES = frozenset(
    {
        "save",
        "save_checkpoint",
        "write_text",
        "write_bytes",
        "save_weights",
        "save_model",
        "savez",
        "dump",
        "save_pretrained",
    }
)
_GENERATORS = ("rng", "random", "seed")
_LOADERS = ("load_state_dict", "load_param_into_net")


@check("RC104")
def directory_order(module: Module, project: Project) -> Iterator[Hit]:
    """Names of files, used in the order in which the file system gives them."""
    for order in module.orders:
        for call in every(order):
            if (
                not _lists(call)
                or sequences.is_sorted_later(order, call.result)
                or _is_sorted_around(call)
            ):
                continue
            use = _use(order, call)
            if use is not None and _is_for_data(order, call):
                listed = call.name if call.name in _LISTS else f"Path.{call.method}"
                message = f"`{listed}` gives names in no promised order, and {use.how}"
                severity: Severity | None = (
                    None if use.strong or streams.uses_framework(order) else "note"
                )
                yield hit(
                    "RC104", call, message, severity=severity, patchable=call.method not in _ENTRIES
                )


@check("RC105")
def temporary_names(module: Module, project: Project) -> Iterator[Hit]:
    """Random names that are sorted, or hashed."""
    for order in module.orders:
        for call in order.calls("builtins.sorted", "builtins.hash", "zlib.crc32"):
            name = next((one for value in call.arguments[:1] for one in _random_names(value)), None)
            if name is not None:
                what = "the order" if call.method == "sorted" else "the number"
                yield hit(
                    "RC105",
                    call,
                    f"{what} comes from random names ({name.name}, {at(name, call.module)}), which"
                    " are new in each run",
                )


@check("RC101")
def state_left(module: Module, project: Project) -> Iterator[Hit]:
    """A file that is read if it is there, and that the same program writes."""
    for order in module.orders:
        if order.whole:
            yield from _resumes(order)


@check("RC102")
def resume_not_equal(module: Module, project: Project) -> Iterator[Hit]:
    """A checkpoint to resume from that holds the optimizer and no generator."""
    for order in module.orders:
        told: set[int] = set()
        for call in order.calls("torch.save", "mindspore.save_checkpoint"):
            saved = call.argument(0)
            if saved is None or not any(made.method == "state_dict" for made in saved.calls()):
                continue
            keys = _keys(saved)
            if (
                not keys
                or not any("optim" in key for key in keys)
                or any(word in key for key in keys for word in _GENERATORS)
            ):
                continue
            if order.whole and not _is_loaded(order):
                continue
            if id(saved) in told:
                continue
            told.add(id(saved))
            yield hit(
                "RC102",
                call,
                "this checkpoint holds the optimizer and no generator state: a resumed training"
                " draws other numbers",
            )


def _is_loaded(order: Order) -> bool:
    """Whether the program loads a state, also under an option that is off by default."""
    if next(order.methods(*_LOADERS), None) is not None:
        return True
    return any(
        getattr(node.func, "attr", "") in _LOADERS
        for module in streams.closure(order)
        for node in module.index.calls
    )


def _lists(call: Call) -> bool:
    if call.name in _LISTS:
        return True
    if call.own or call.name.startswith(("tensorflow.", "fsspec.")):
        return False
    return call.method in _PATH_LISTS or (call.method == "glob" and "pathlib." in call.name)


def _use(order: Order, call: Call) -> sequences.Use | None:
    """A use of the names by their order; an element that is taken by position counts too."""
    parent = call.module.parent(call.node)
    if isinstance(parent, ast.Subscript) and isinstance(
        parent.slice, ast.Constant | ast.UnaryOp | ast.Slice
    ):
        return sequences.Use(call, True, "one is taken by its position")
    if (
        isinstance(parent, ast.Call)
        and parent.func is not call.node
        and sequences.is_blindly_used(call.node, call)
    ):
        return None
    if isinstance(
        parent,
        ast.comprehension
        | ast.For
        | ast.Assign
        | ast.AnnAssign
        | ast.Call
        | ast.Return
        | ast.BinOp
        | ast.AugAssign
        | ast.Starred
        | ast.keyword,
    ):
        found = sequences.decided(order, call.result)
        if found is not None:
            return found
    if isinstance(parent, ast.Return) and not order.whole:
        return sequences.Use(call, False, "they are handed on in that order")
    return _assigned(order, call)


def _assigned(order: Order, call: Call) -> sequences.Use | None:
    """A list of names that is kept and not looked at any more."""
    statement = call.module.statement_of(call.node)
    if unread.is_only_asked(call):
        return None
    if (
        isinstance(statement, ast.Assign)
        and statement.value is call.node
        and not list(order.uses(call.result))
    ):
        return sequences.Use(call, False, "they are kept in that order")
    return None


def _is_sorted_around(call: Call) -> bool:
    """`sorted(...)` around it in the same expression."""
    node: ast.AST | None = call.node
    while node is not None and not isinstance(node, ast.stmt):
        node = call.module.parent(node)
        if isinstance(node, ast.Call) and sequences.is_sorting(call.module, node):
            return True
    return False


def _is_for_data(order: Order, step: Step) -> bool:
    """Whether the names may be those of samples: at the top level, in a data set, or in a function
    whose name does not say otherwise. What a generator function is for that says nothing of it, the
    place where it is gone over says.
    """
    function = step.module.function_of(step.node)
    at: ast.AST | None = step.node
    while at is not None:
        if isinstance(at, ast.ClassDef) and _is_data_class(at, function):
            return True
        at = step.module.parent(at)
    if function is None or _is_data_word(function.name):
        return True
    place = None if _CHORES.search(function.name.lower()) else sequences.consumer(order, step)
    return place is not None and _is_for_data(order, place)


def _is_data_class(node: ast.ClassDef, function: ast.AST | None) -> bool:
    methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    if methods & {"__getitem__", "__iter__", "__next__"} or any(
        "Dataset" in ast.unparse(base) for base in node.bases
    ):
        return True
    return getattr(function, "name", "") == "__init__" and _is_data_word(node.name)


def _is_data_word(name: str) -> bool:
    return bool(_DATA.search(name.lower())) and not _CHORES.search(name.lower())


def _random_names(value: Value) -> Iterator[Call]:
    """The random names that a value holds themselves, and not files below a folder of such a
    name.
    """
    waiting, seen = [value], 0
    while waiting and seen < _MOST:
        one, seen = waiting.pop(), seen + 1
        if isinstance(one, Made):
            if one.call.name in _RANDOM_NAMES:
                yield one.call
            elif one.call.name in (
                "builtins.str",
                "builtins.list",
                "os.path.basename",
            ) or one.call.method in ("values", "keys", "items"):
                waiting.extend(one.sources)
        elif isinstance(one, Items | Part) or (isinstance(one, Derived) and one.kind == "format"):
            waiting.extend(one.sources)


def _resumes(order: Order) -> Iterator[Hit]:
    saved = [
        (call, target)
        for call in order.methods(*_SAVES)
        if (target := _path(call, saving=True)) is not None
    ]
    for call in order.methods(*_LOADS):
        source = _path(call, saving=False)
        if source is None or call.own:
            continue
        guard = next(
            (
                test
                for condition in call.conditions
                if (test := _asks(order, condition, source)) is not None
            ),
            None,
        )
        written = next((save for save, target in saved if _same(target, source)), None)
        if (
            guard is not None
            and written is not None
            and not _is_own(order, call, saved)
            and _carries_over(order, call, written)
        ):
            yield hit(
                "RC101",
                call,
                f"this reads what an earlier run wrote ({at(written, call.module)}) if it is there:"
                " the next run starts elsewhere",
            )
            return


def _is_own(order: Order, load: Call, saved: list[tuple[Call, Value]]) -> bool:
    """Whether this very run has written a checkpoint before: then that is what it reads."""
    return any(
        order.is_before(save, load) and save.method == load.method.replace("load", "save")
        for save, _ in saved
    )


def _carries_over(order: Order, load: Call, save: Call) -> bool:
    """Whether the next run differs by it: what was read is written on, is loaded as weights, or its
    making moves a global generator.
    """
    written = [
        one for one in (save.argument(0, "obj", "data", "state"), save.receiver) if one is not None
    ]
    if any(one is load.result for value in written for one in value.origin()):
        return True
    if any(isinstance(step, Call) and step.method in _RESTORES for step in order.flow(load.result)):
        return True
    first, last = sorted((order.position(load), order.position(save)))
    return any(
        first < order.position(one.call) < last
        for one in streams.drawings(order)
        if one.draws.when == "call"
    )


def _path(call: Call, *, saving: bool) -> Value | None:
    if call.receiver is not None and call.method in (
        "read_text",
        "read_bytes",
        "write_text",
        "write_bytes",
    ):
        return call.receiver
    if call.name in ("torch.save", "joblib.dump", "pickle.dump", "mindspore.save_checkpoint"):
        return call.argument(1, "f", "filename", "ckpt_file_name")
    return call.argument(0, "f", "file", "filepath", "path")


def _asks(order: Order, condition: Condition, source: Value) -> ast.AST | None:
    for node in ast.walk(condition.test):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _TESTS
        ):
            subject = order.value_of(node.args[0]) if node.args else order.value_of(node.func.value)
            if _same(subject, source):
                return node
    return None


def _same(one: Value, other: Value) -> bool:
    """The same object, or the same path."""
    if one is other:
        return True
    path = _literal(one)
    return path is not None and path == _literal(other)


def _literal(value: Value) -> str | None:
    if isinstance(value, Constant):
        return str(value.value) if isinstance(value.value, str) else None
    if isinstance(value, Made) and value.call.name in (
        "pathlib.Path",
        "builtins.str",
        "os.path.join",
        "pathlib.PurePath",
    ):
        parts = [_literal(argument) for argument in value.call.arguments]
        return "/".join(part for part in parts if part) if parts and all(parts) else None
    if isinstance(value, Derived) and value.kind in ("Div", "Add"):
        parts = [_literal(part) for part in value.parts]
        between = "/" if value.kind == "Div" else ""
        return between.join(part for part in parts if part) if all(parts) else None
    return None


def _keys(value: Value | None) -> list[str]:
    keys = getattr(value, "keys", None)
    if not isinstance(keys, list):
        return []
    return [str(key.value).lower() for key in keys if isinstance(key, Constant)]
