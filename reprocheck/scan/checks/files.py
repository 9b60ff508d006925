"""Find orders that the file system or random names decide, and state that an earlier run left."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, filterfalse
from operator import attrgetter

from reprocheck.rules.catalogue import Severity
from reprocheck.scan import syntax
from reprocheck.scan.checks import order_use, other_programs, sequences, streams, training
from reprocheck.scan.checks.streams import at, every
from reprocheck.scan.index import of_kind, within
from reprocheck.scan.order import Order
from reprocheck.scan.registry import Hit, check_orders, check_programs, hit
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import UNKNOWN, Constant, Derived, Items, Made, Part, Value, text_of
from reprocheck.scan.vocabulary import names, pattern, words

_LISTS = words("files", "lists")
_ENTRIES = words("files", "entries")
_PATH_LISTS = frozenset({"iterdir", "rglob"})
TEMPORARY = names("files", "temporary")
_RANDOM_NAMES = frozenset(
    {*TEMPORARY, "uuid.uuid4", "uuid.uuid1", "secrets.token_hex", "secrets.token_urlsafe"}
)
_RESTORES = words("files", "restores")
_DATA = pattern("files", "data")
_CHORES = pattern("files", "chores")
_ASKS_WHICH = pattern("files", "asks_which")
_ASSIGNING = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_PASSING = (ast.Call, ast.Starred, ast.keyword, ast.Return)
_TAKING = (*_ASSIGNING, *_PASSING, ast.comprehension, ast.For, ast.BinOp)
"""What stands around names that go on to be used."""
_GIVES_SAMPLES = words("files", "gives_samples")
_KEEP_NAMES = words("files", "keep_names")
_OF_DICTS = words("files", "of_dicts")
_METHODS_OF_PATHS = words("files", "methods_of_paths")
_PATH_SECOND = words("files", "path_second")
_JOINS = words("files", "joins")
_BETWEEN = {"Div": "/", "Add": ""}
"""What stands between two parts of a path, by the operator that joins them."""
_FROM_NAMES = {"sorted": "the order", "hash": "the number", "crc32": "the number"}
_MOST = 200
_TESTS = words("files", "tests")
_LOADS = words("files", "loads")
_SAVES = words("files", "saves")
_GENERATORS = re.compile("rng|random|seed")
_LOADERS = frozenset({"load_state_dict", "load_param_into_net"})


@check_orders("RC104", unless=(other_programs.is_for_nobody,))
def directory_order(order: Order) -> Iterator[Hit]:
    """Find names of files that are used in the order in which the file system gives them."""
    for call in filterfalse(is_sorted_around, filter(lists, every(order))):
        if sequences.is_sorted_later(order, call.result) or training.is_evaluation(call):
            continue
        use = _use(order, call)
        if use is None:
            continue
        is_for_data = _is_for_data(order, call) and not _is_of_logs(call)
        if not is_for_data and not decides_by_number(call):
            continue
        listing = call.name if call.name in _LISTS else f"Path.{call.method}"
        message = f"`{listing}` gives names in no guaranteed order, and {use.how}"
        is_sure = use.strong or streams.uses_framework(order)
        severity: Severity | None = None if is_sure and not training.is_unused(order) else "note"
        patchable = call.method not in _ENTRIES
        yield hit("RC104", call, message, severity=severity, patchable=patchable)


def _is_of_logs(call: Call) -> bool:
    """Return whether a listing is of logs, figures or checkpoints.

    Its pattern or its module's name tells.
    """
    if _ABOUT_LOGS.search(call.module.source.path.stem):
        return True
    texts = (part.value for part in within(call.node, ast.Constant))
    return any(map(_NAMES_LOGS.search, of_kind(texts, str)))


_ABOUT_LOGS = pattern("files", "about_logs")
_NAMES_LOGS = re.compile(r"(?:^|[_./*])(?:logs?)(?:$|[_./*])|events\.out")


def decides_by_number(step: Step) -> bool:
    """Return whether a loop numbers the files with `enumerate` and compares the number.

    The order then decides which file goes where, as in `if i < 100: train.append(name)`.
    """
    match step.parent, step.statement:
        case (
            ast.Call(func=ast.Name(id="enumerate")),
            ast.For(target=ast.Tuple(elts=[ast.Name(id=number), _])) as loop,
        ):
            for comparison in within(loop.body, ast.Compare):
                operators = comparison.ops
                is_of_number = getattr(comparison.left, "id", "") == number
                is_order = isinstance(operators[0], ast.Lt | ast.Gt | ast.LtE | ast.GtE)
                if is_of_number and is_order and len(operators) == 1:
                    return True
    return False


@check_orders("RC105")
def temporary_names(order: Order) -> Iterator[Hit]:
    """Find random file names that are sorted or hashed, even if they are listed."""
    for call in order.calls("builtins.sorted", "builtins.hash", "zlib.crc32"):
        names = chain(_random_names(call.first), _left_in_folder(order, call))
        name = next(names, None)
        if name is not None:
            decided, place = _FROM_NAMES[call.method], at(name, call.module)
            message = (
                f"{decided} comes from random names ({name.name}, {place}), which are new in each"
                " run"
            )
            yield hit("RC105", call, message)


@check_programs("RC101")
def state_left(order: Order) -> Iterator[Hit]:
    """Find a file that the program reads if the file exists, and that the same program writes."""
    saves = [_Save(call, target) for call in order.methods(*_SAVES) if (target := _path(call))]
    for load in filterfalse(attrgetter("own"), order.methods(*_LOADS)):
        source = _path(load)
        written = next((one.call for one in saves if _is_same(one.target, source)), None)
        if written is None or not _is_asked_for(order, load, source):
            continue
        if not _is_own(order, load, saves) and _carries_over(order, load, written):
            message = (
                f"this reads what an earlier run wrote ({at(written, load.module)}) if it is there:"
                " the next run starts elsewhere"
            )
            yield hit("RC101", load, message)
            return


def loads_nothing(order: Order) -> bool:
    """Return whether the program loads no state, not even under an option that is off by default.

    Return False for a library, because its callers may load state.
    """
    if not order.whole or any(order.methods(*_LOADERS)):
        return False
    calls = (module.index.calls for module in streams.closure(order))
    methods = map(syntax.method, chain.from_iterable(calls))
    return _LOADERS.isdisjoint(methods)


@check_orders("RC102", unless=(loads_nothing,))
def resume_not_equal(order: Order) -> Iterator[Hit]:
    """Find a checkpoint that holds the state of the optimizer but of no random number generator."""
    first: dict[int, Call] = {}
    for call in order.calls("torch.save", "mindspore.save_checkpoint"):
        first.setdefault(id(call.first), call)
    for save in first.values():
        saved = list(of_kind(getattr(save.first, "keys", ()), Constant))
        keys = "\n".join(str(key.value).lower() for key in saved)
        if "optim" not in keys or _GENERATORS.search(keys):
            continue
        if "state_dict" in map(attrgetter("method"), save.first.calls()):
            message = (
                "this checkpoint holds the optimizer and no generator state: a resumed training"
                " draws other numbers"
            )
            yield hit("RC102", save, message)


def lists(call: Call) -> bool:
    """Return whether a call lists files."""
    if call.name in _LISTS:
        return True
    # TensorFlow's `gfile` functions that list are named above, and `glob` of `fsspec` sorts.
    if call.name.startswith(("tensorflow.", "fsspec.")):
        return False
    is_glob_of_path = call.library_method == "glob" and "pathlib." in call.name
    return is_glob_of_path or call.library_method in _PATH_LISTS


def _use(order: Order, call: Call) -> sequences.Use | None:
    """Return how a listing of files is used by its order, taking one file by position included.

    None if the order does not matter.
    """
    match call.parent:
        case ast.Subscript(slice=ast.Constant() | ast.UnaryOp() | ast.Slice()):
            return sequences.Use(call, True, "one is taken by its position")
        case ast.Call() if sequences.is_blindly_used(call.node, call):
            return None
    uses = (finds(order, call) for finds in _USES)
    return next(filter(None, uses), None)


def use_of_taken(order: Order, call: Call) -> sequences.Use | None:
    """Return how the names of a listing are used by their order; else None.

    Only if the expression around the call takes them on: an assignment, an argument, a loop.
    """
    if not isinstance(call.parent, _TAKING):
        return None
    return sequences.decided(order, call.result)


def use_of_returned(order: Order, call: Call) -> sequences.Use | None:
    """Return the use of a listing that a library function returns: its callers are unknown.

    None in a whole program.
    """
    if order.whole or not isinstance(call.parent, ast.Return):
        return None
    return sequences.Use(call, False, "they are handed on in that order")


def use_of_assigned(order: Order, call: Call) -> sequences.Use | None:
    """Return the use of a listing that is assigned to a name, if nothing uses it later."""
    match call.statement:
        case ast.Assign(value=kept) if kept is call.node:
            if not any(order.uses(call.result)) and not order_use.is_only_asked(call):
                return sequences.Use(call, False, "they are kept in that order")
    return None


_USES = (use_of_taken, use_of_returned, use_of_assigned)
"""What becomes of a list of names, the surest first."""


def is_sorted_around(call: Call) -> bool:
    """Return whether a call stands inside of `sorted(...)` in the same expression."""
    around = call.module.expressions_around(call.node)
    return any(sequences.is_sorting(call.module, node) for node in around)


def _is_for_data(order: Order, step: Step) -> bool:
    """Return whether a listing may be of sample files.

    At the top level, in a data set class, or in a function whose name does not speak of other work,
    as `clean_logs` does.

    For a generator function of another name, decide by the place that loops over its results.
    """
    name = step.function_name
    if _ASKS_WHICH.search(name.lower()):
        return False
    around = (step.node, *step.module.around(step.node))
    for node in of_kind(around, ast.ClassDef):
        bases = " ".join(map(ast.unparse, node.bases))
        if "Dataset" in bases or not syntax.methods(node).isdisjoint(_GIVES_SAMPLES):
            return True
        if name == "__init__" and _is_data_word(node.name):
            return True
    if not name or _is_data_word(name):
        return True
    if _CHORES.search(name.lower()):
        return False
    place = sequences.consumer(order, step)
    return place is not None and _is_for_data(order, place)


def _is_data_word(name: str) -> bool:
    return bool(_DATA.search(name.lower())) and not _CHORES.search(name.lower())


def _random_names(value: Value) -> Iterator[Call]:
    """Yield the calls that made random names in a value, without random folders of files."""
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


def _left_in_folder(order: Order, call: Call) -> Iterator[Call]:
    """Yield calls that leave files with random names in the sorted folder."""
    match call.first:
        case Made(call=listing) if lists(listing):
            folder = list(listing.result.origin())
            for made in order.before(listing, *_LEAVES):
                if _is_among(made.argument(None, "dir"), folder) and _stays(order, made):
                    yield made
            named = _folders(folder)
            for save in order.methods(*_SAVES):
                path = _path(save) or UNKNOWN
                if named.isdisjoint(_folders(path.origin())) or order.is_before(listing, save):
                    continue
                for made in _random_names(_last_part(path)):
                    if _stays(order, made):
                        yield made


def _folders(values: Iterable[Value]) -> set[str]:
    """Return the folders that texts of a path name, without any part after `*`."""
    texts = filter(None, map(text_of, values))
    beginnings = (text.partition("*")[0].rstrip("/") for text in texts)
    return {one for one in beginnings if one and not one.startswith(".")}


def _last_part(path: Value) -> Value:
    """Return the part of a path that is the name of the file, as `name` of `folder / name`."""
    match path:
        case Derived(kind="Div", parts=(*_, last)):
            return last
        case Made(call=Call(name=name, arguments=(*_, last))) if name in _JOINS:
            return last
    return path


_LEAVES = names("files", "leaves")
_MOVES = words("files", "moves")


def _is_among(folder: Value | None, found: Sequence[Value]) -> bool:
    """Return whether a folder is one of the values in `found`, or has the text of one."""
    text = text_of(folder)
    if text is not None:
        return text in map(text_of, found)
    return folder is not UNKNOWN and folder in found


def _stays(order: Order, made: Call) -> bool:
    """Return whether a temporary file is neither deleted nor renamed later on."""
    deleted = made.argument(None, "delete")
    is_deleted = made.method == "NamedTemporaryFile" and deleted is None
    if is_deleted or (isinstance(deleted, Constant) and deleted.value):
        return False
    uses = order.flow(made.result)
    return not any(step.method in _MOVES for step in uses)


@dataclass(frozen=True, slots=True)
class _Save:
    """A call that writes a file, and the path that it writes to."""

    call: Call
    target: Value


def _is_own(order: Order, load: Call, saves: list[_Save]) -> bool:
    """Return whether this run writes the file, or a checkpoint, before it reads the file."""
    writes = load.method.replace("load", "save")
    source = _path(load)
    same = (one.call for one in saves if one.call.method == writes or _is_same(one.target, source))
    return any(order.is_before(save, load) for save in same)


def _carries_over(order: Order, load: Call, save: Call) -> bool:
    """Return whether reading the file changes the next run.

    The content is written again, is loaded as weights, or its creation draws from a global
    generator.
    """
    written = filter(None, (save.argument(0, "obj", "data", "state"), save.receiver))
    held = chain.from_iterable(map(Value.origin, written))
    is_written_on = id(load.result) in map(id, held)
    methods = map(attrgetter("method"), order.flow(load.result))
    if is_written_on or not _RESTORES.isdisjoint(methods):
        return True
    first, last = sorted((order.position(load), order.position(save)))
    draws = (one.call for one in streams.drawings(order) if one.draws.when == "call")
    return any(first < position < last for position in map(order.position, draws))


def _path(call: Call) -> Value | None:
    """Return the path of the file that a call reads or writes."""
    if call.receiver is not None and call.method in _METHODS_OF_PATHS:
        return call.receiver
    if call.name in _PATH_SECOND:
        return call.argument(1, "f", "filename", "ckpt_file_name")
    return call.argument(0, "f", "file", "filepath", "path")


def _is_asked_for(order: Order, load: Call, source: Value | None) -> bool:
    """Return whether a file is read only if it exists, by a test as `os.path.exists(file)`."""
    conditions = list(map(attrgetter("test"), load.conditions))
    for test in within(conditions, ast.Call):
        if syntax.method(test) in _TESTS:
            # `os.path.exists(file)`, `file.exists()`
            file = test.args[0] if test.args else getattr(test.func, "value", test)
            if _is_same(order.value_of(file), source):
                return True
    return False


def _is_same(one: Value, other: Value | None) -> bool:
    """Return whether two values are the same object or the same path; False if `other` is None."""
    if one is other:
        return True
    path = _literal(one)
    return path is not None and path == _literal(other)


def _literal(value: Value | None) -> str | None:
    """Return the text of a path that the source spells out; None for any other value."""
    match value:
        case Constant(value=str(text)):
            return text
        case Made(call=call) if call.name in _JOINS:
            between, parts = "/", call.arguments
        case Derived(kind="Div" | "Add" as kind, parts=parts):
            between = _BETWEEN[kind]
        case _:
            return None
    texts = list(filter(None, map(_literal, parts)))
    if not texts or len(texts) < len(parts):
        return None
    return between.join(texts)
