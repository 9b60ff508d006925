"""Orders that the file system or a random name decides, and state that an earlier run left."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, filterfalse

from reprocheck.rules.catalogue import Severity
from reprocheck.scan import syntax
from reprocheck.scan.checks import sequences, streams, unread
from reprocheck.scan.checks.streams import at, every
from reprocheck.scan.index import within
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_orders, check_programs, hit
from reprocheck.scan.steps import Call, Step
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
TEMPORARY = (
    "tempfile.mkstemp",
    "tempfile.mkdtemp",
    "tempfile.mktemp",
    "tempfile.NamedTemporaryFile",
    "tempfile.TemporaryDirectory",
)
_RANDOM_NAMES = frozenset(
    {*TEMPORARY, "uuid.uuid4", "uuid.uuid1", "secrets.token_hex", "secrets.token_urlsafe"}
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
# A function of such a name does its work on all files, whichever comes first.
_CHORES = re.compile(
    r"^_?on_|log|monitor|plot|config|upload|download|clean|remove|delete|copy|check|show|print|save|export|convert|checkpoint|ckpt|cache|zip|test|lock"
)
_TAKING = (
    ast.comprehension,
    ast.For,
    ast.Assign,
    ast.AnnAssign,
    ast.Call,
    ast.Return,
    ast.BinOp,
    ast.AugAssign,
    ast.Starred,
    ast.keyword,
)
"""What stands around names that go on to be used."""
_GIVES_SAMPLES = frozenset({"__getitem__", "__iter__", "__next__"})
_KEEP_NAMES = frozenset({"builtins.str", "builtins.list", "os.path.basename"})
_OF_DICTS = frozenset({"values", "keys", "items"})
_METHODS_OF_PATHS = frozenset({"read_text", "read_bytes", "write_text", "write_bytes"})
_PATH_SECOND = frozenset({"torch.save", "joblib.dump", "pickle.dump", "mindspore.save_checkpoint"})
"""Functions that are given what to save before where to."""
_JOINS = frozenset({"pathlib.Path", "builtins.str", "os.path.join", "pathlib.PurePath"})
_BETWEEN = {"Div": "/", "Add": ""}
"""What stands between two parts of a path, by the operator that joins them."""
_FROM_NAMES = {"sorted": "the order", "hash": "the number", "crc32": "the number"}
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
_GENERATORS = re.compile("rng|random|seed")
_LOADERS = ("load_state_dict", "load_param_into_net")


@check_orders("RC104")
def directory_order(order: Order) -> Iterator[Hit]:
    """Names of files, used in the order in which the file system gives them."""
    for call in filterfalse(is_sorted_around, filter(lists, every(order))):
        if sequences.is_sorted_later(order, call.result):
            continue
        use = _use(order, call)
        if use is not None and _is_for_data(order, call):
            message = f"`{_listing(call)}` gives names in no guaranteed order, and {use.how}"
            severity: Severity | None = "note"
            if use.strong or streams.uses_framework(order):
                severity = None
            patchable = call.method not in _ENTRIES
            yield hit("RC104", call, message, severity=severity, patchable=patchable)


def _listing(call: Call) -> str:
    """The name by which a listing of files is known."""
    if call.name in _LISTS:
        return call.name
    return f"Path.{call.method}"


@check_orders("RC105")
def temporary_names(order: Order) -> Iterator[Hit]:
    """Random names that are sorted, or hashed."""
    for call in order.calls("builtins.sorted", "builtins.hash", "zlib.crc32"):
        name = next(_random_names(call.first), None)
        if name is not None:
            yield hit(
                "RC105",
                call,
                f"{_FROM_NAMES[call.method]} comes from random names ({name.name},"
                f" {at(name, call.module)}), which are new in each run",
            )


@check_programs("RC101")
def state_left(order: Order) -> Iterator[Hit]:
    """A file that is read if it is there, and that the same program writes."""
    saves = [_Save(call, target) for call in order.methods(*_SAVES) if (target := _path(call))]
    for load in order.methods(*_LOADS):
        source = _path(load)
        if source is None or load.own:
            continue
        written = next((one.call for one in saves if _is_same(one.target, source)), None)
        if written is None or not _is_asked_for(order, load, source):
            continue
        if not _is_own(order, load, saves) and _carries_over(order, load, written):
            yield hit(
                "RC101",
                load,
                f"this reads what an earlier run wrote ({at(written, load.module)}) if it is there:"
                " the next run starts elsewhere",
            )
            return


@check_orders("RC102")
def resume_not_equal(order: Order) -> Iterator[Hit]:
    """A checkpoint to resume from that holds the optimizer and no generator."""
    told: set[int] = set()
    for call in order.calls("torch.save", "mindspore.save_checkpoint"):
        saved = call.argument(0)
        if id(saved) in told or not _lacks_generators(saved) or not _is_loaded(order):
            continue
        told.add(id(saved))
        yield hit(
            "RC102",
            call,
            "this checkpoint holds the optimizer and no generator state: a resumed training"
            " draws other numbers",
        )


def _lacks_generators(saved: Value | None) -> bool:
    """Whether a checkpoint holds the state of an optimizer, and of no generator."""
    keys = "\n".join(_keys(saved))
    if saved is None or "optim" not in keys or _GENERATORS.search(keys):
        return False
    return any(made.method == "state_dict" for made in saved.calls())


def _is_loaded(order: Order) -> bool:
    """Whether the program loads a state, also under an option that is off by default; callers of a
    library may.
    """
    if not order.whole or any(order.methods(*_LOADERS)):
        return True
    calls = (module.index.calls for module in streams.closure(order))
    return any(syntax.method(node) in _LOADERS for node in chain.from_iterable(calls))


def lists(call: Call) -> bool:
    """Whether a call lists files."""
    if call.name in _LISTS:
        return True
    # TensorFlow's `gfile` functions that list are named above, and `glob` of `fsspec` sorts.
    if call.name.startswith(("tensorflow.", "fsspec.")):
        return False
    is_glob_of_path = call.library_method == "glob" and "pathlib." in call.name
    return is_glob_of_path or call.library_method in _PATH_LISTS


def _use(order: Order, call: Call) -> sequences.Use | None:
    """A use of the names by their order; an element that is taken by position counts too."""
    parent = call.parent
    match parent:
        case ast.Subscript(slice=ast.Constant() | ast.UnaryOp() | ast.Slice()):
            return sequences.Use(call, True, "one is taken by its position")
        case ast.Call() if sequences.is_blindly_used(call.node, call):
            return None
    found = None
    if isinstance(parent, _TAKING):
        found = sequences.decided(order, call.result)
    if found is None and isinstance(parent, ast.Return) and not order.whole:
        return sequences.Use(call, False, "they are handed on in that order")
    return found or _assigned(order, call)


def _assigned(order: Order, call: Call) -> sequences.Use | None:
    """A list of names that is kept and not looked at any more."""
    kept = getattr(call.statement, "value", None)
    if kept is not call.node or not isinstance(call.statement, ast.Assign):
        return None
    if any(order.uses(call.result)) or unread.is_only_asked(call):
        return None
    return sequences.Use(call, False, "they are kept in that order")


def is_sorted_around(call: Call) -> bool:
    """`sorted(...)` around it in the same expression."""
    around = call.module.expressions_around(call.node)
    return any(sequences.is_sorting(call.module, node) for node in around)


def _is_for_data(order: Order, step: Step) -> bool:
    """Whether the names may be those of samples: at the top level, in a data set, or in a function
    whose name does not say otherwise. What a generator function is for that says nothing of it, the
    place where it is gone over says.
    """
    name = step.function_name
    around = (step.node, *step.module.around(step.node))
    if any(isinstance(one, ast.ClassDef) and _is_data_class(one, name) for one in around):
        return True
    if not name or _is_data_word(name):
        return True
    if _CHORES.search(name.lower()):
        return False
    place = sequences.consumer(order, step)
    return place is not None and _is_for_data(order, place)


def _is_data_class(node: ast.ClassDef, function: str) -> bool:
    """Whether a class holds samples, seen from a function in it."""
    methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    bases = " ".join(map(ast.unparse, node.bases))
    if "Dataset" in bases or not methods.isdisjoint(_GIVES_SAMPLES):
        return True
    return function == "__init__" and _is_data_word(node.name)


def _is_data_word(name: str) -> bool:
    return bool(_DATA.search(name.lower())) and not _CHORES.search(name.lower())


def _random_names(value: Value) -> Iterator[Call]:
    """The random names that a value holds themselves, and not files below a folder of such a
    name.
    """
    waiting, seen = [value], 0
    while waiting and seen < _MOST:
        one, seen = waiting.pop(), seen + 1
        match one:
            case Made(call=call) if call.name in _RANDOM_NAMES:
                yield call
            case Made(call=call) if call.name in _KEEP_NAMES or call.method in _OF_DICTS:
                waiting.extend(one.sources)
            case Items() | Part() | Derived(kind="format"):
                waiting.extend(one.sources)


@dataclass(frozen=True, slots=True)
class _Save:
    """A call that writes a file, and where to."""

    call: Call
    target: Value


def _is_own(order: Order, load: Call, saves: list[_Save]) -> bool:
    """Whether this very run has written a checkpoint before: then that is what it reads."""
    writes = load.method.replace("load", "save")
    same = (one.call for one in saves if one.call.method == writes)
    return any(order.is_before(save, load) for save in same)


def _carries_over(order: Order, load: Call, save: Call) -> bool:
    """Whether the next run differs by it: what was read is written on, is loaded as weights, or its
    making moves a global generator.
    """
    written = filter(None, (save.argument(0, "obj", "data", "state"), save.receiver))
    held = chain.from_iterable(value.origin() for value in written)
    if any(one is load.result for one in held):
        return True
    if any(step.method in _RESTORES for step in order.flow(load.result)):
        return True
    first, last = sorted((order.position(load), order.position(save)))
    draws = (one.call for one in streams.drawings(order) if one.draws.when == "call")
    return any(first < order.position(draw) < last for draw in draws)


def _path(call: Call) -> Value | None:
    """The file that a call reads or writes."""
    if call.receiver is not None and call.method in _METHODS_OF_PATHS:
        return call.receiver
    if call.name in _PATH_SECOND:
        return call.argument(1, "f", "filename", "ckpt_file_name")
    return call.argument(0, "f", "file", "filepath", "path")


def _is_asked_for(order: Order, load: Call, source: Value) -> bool:
    """Whether a file is read only if it is there."""
    tests = within([condition.test for condition in load.conditions], ast.Call)
    asked = (_subject(test) for test in tests if syntax.method(test) in _TESTS)
    return any(_is_same(order.value_of(subject), source) for subject in asked)


def _subject(test: ast.Call) -> ast.AST:
    """The file in `os.path.exists(file)` and `file.exists()`."""
    match test:
        case ast.Call(args=[first, *_]):
            return first
        case ast.Call(func=ast.Attribute(value=file)):
            return file
    return test


def _is_same(one: Value, other: Value) -> bool:
    """The same object, or the same path."""
    if one is other:
        return True
    path = _literal(one)
    return path is not None and path == _literal(other)


def _literal(value: Value) -> str | None:
    """A path that the source spells out."""
    match value:
        case Constant(value=str(text)):
            return text
        case Made(call=call) if call.name in _JOINS:
            return _joined("/", call.arguments)
        case Derived(kind="Div" | "Add" as kind, parts=parts):
            return _joined(_BETWEEN[kind], parts)
    return None


def _joined(between: str, parts: Sequence[Value]) -> str | None:
    texts = list(filter(None, map(_literal, parts)))
    if not texts or len(texts) < len(parts):
        return None
    return between.join(texts)


def _keys(value: Value | None) -> list[str]:
    """The keys of a dict that the source spells out."""
    match value:
        case Items(keys=keys):
            return [str(key.value).lower() for key in keys if isinstance(key, Constant)]
    return []
