"""Find which generators of random numbers an order of steps seeds and draws from.

They are called streams. Some draws change nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from operator import attrgetter

import msgspec

from reprocheck.language import mark
from reprocheck.scan import syntax
from reprocheck.scan.checks import reachable_functions, tables
from reprocheck.scan.index import holds, of_kind, within
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.syntax import is_guard
from reprocheck.scan.values import (
    UNKNOWN,
    Constant,
    External,
    Instance,
    Items,
    Made,
    Parameter,
    Value,
    is_none,
    literal,
)
from reprocheck.scan.vocabulary import names, pattern, words


def are_nothing(order: Order, call: Call) -> bool:
    """Return whether a call that draws changes nothing: probability 0, or its result times 0."""
    takes = tables.amounts().get(call.name)
    if takes is not None and _is_still(call, takes.split()):
        return True
    return call.name in tables.draws() and _is_times_zero(order, call)


def _is_still(call: Call, takes: Sequence[str]) -> bool:
    """Return whether the arguments of a call leave nothing to draw: a probability of 0, equal ends.

    `takes` names the parameters in order; `?` marks a probability, `~` an end of a range, and `_` a
    parameter that does not count.
    """
    given = {
        name: value
        for at, name in enumerate(takes)
        if (value := call.argument(at, name.rstrip("?~"))) and not is_none(value)
    }
    ends = [literal(value) for name, value in given.items() if name.endswith("~")]
    if len(ends) == 2:
        return ends[0] == ends[1] is not None
    chances = [value for name, value in given.items() if name.endswith("?")]
    if any(map(_is_zero, chances)):
        return True
    amounts = {name: value for name, value in given.items() if name.isidentifier() and name != "_"}
    return bool(amounts) and all(_is_fixed(name, value) for name, value in amounts.items())


def _is_zero(value: Value) -> bool:
    return literal(value) == 0


def _is_fixed(name: str, value: Value) -> bool:
    """Return whether an argument leaves no range to draw from: zero, zeros, or two equal ends.

    The two numbers of `translate` are one range for each axis, so that equal numbers are no ends.
    """
    if not isinstance(value, Items):
        return _is_zero(value)
    numbers = set(map(literal, value.items))
    return numbers == {0} or (len(numbers) == 1 and None not in numbers and name != "translate")


def _is_times_zero(order: Order, call: Call) -> bool:
    """Return whether the result of a call is multiplied by 0, as `0.0 * torch.randn(3)`.

    Or by a variable that holds 0.
    """
    match call.module.parent(call.node):
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            factors = map(order.value_of, (left, right))
            return any(map(_is_zero, factors))
    return False


TITLES = {
    "backend": "Keras",
    "python": mark("Python's random"),
    "numpy": "NumPy",
    "torch": "torch",
    "device": mark("the accelerator's generator"),
    "mindspore": "MindSpore",
    "mindspore weights": "MindSpore",
    "mindspore data": mark("MindSpore's data pipeline"),
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "dgl": "DGL",
}
FRAMEWORKS = names("streams", "frameworks")
_OWN_SEEDS = frozenset({*FRAMEWORKS, *names("streams", "own_seeds")})
_SEEDS = re.compile("seed|determin")
# Their calls that seed are in the tables, so that a name alone tells nothing new of theirs.
_KNOWN_SEEDS = _OWN_SEEDS - {"builtins", "torch", "transformers"}
_SEEDER = pattern("streams", "seeder")
_NO_SEEDER = pattern("streams", "no_seeder")
_TRAINS = names("training", "steps")
TRAINING_METHODS = frozenset(_TRAINS)
"""Methods whose call is a part of a training."""
_AGENTS = names("streams", "agents")
_SPAWNS = names("streams", "spawns")
_TRAINERS = names("training", "whole") + names("training", "parts")


@dataclass(frozen=True, slots=True)
class Seeding:
    """A call that seeds some streams.

    everything  whether only its name suggests that the call seeds, so that it may seed any stream
    """

    call: Call
    streams: frozenset[str]
    everything: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A call that draws, or makes an object that will draw, as a layer.

    draws    what the tables say of the call
    streams  the generators from which it may draw
    """

    call: Call
    draws: tables.Draws
    streams: frozenset[str]


@dataclass(frozen=True, slots=True)
class Unused:
    """A function of a program that seeds and is never called."""

    module: Module
    function: ast.FunctionDef | ast.AsyncFunctionDef


@kept
def every(order: Order) -> tuple[Call, ...]:
    """Return all calls of an order, in the order of execution."""
    return tuple(of_kind(order.steps, Call))


@kept
def seedings(order: Order) -> tuple[Seeding, ...]:
    """Return the calls that seed, in the order of execution."""
    return tuple(filter(None, map(_seeding, every(order))))


@kept
def drawings(order: Order) -> tuple[Drawing, ...]:
    """Return the calls that draw, in the order of execution."""
    calls = (call for call in every(order) if not are_nothing(order, call))
    return tuple(filter(None, map(_drawing, calls)))


def seeded_before(order: Order, step: Step, streams: frozenset[str]) -> Seeding | None:
    """Return the first call before a step that seeds one of the streams; None without one."""
    before = (one for one in seedings_of(order, streams) if order.is_before(one.call, step))
    return next(before, None)


def seeded_after(order: Order, step: Step, streams: frozenset[str]) -> Seeding | None:
    """Return the first call after a step that surely seeds one of the streams; None without one."""
    sure = (one for one in seedings(order) if one.streams & streams)
    return next((one for one in sure if order.is_before(step, one.call)), None)


def seedings_of(order: Order, streams: frozenset[str]) -> list[Seeding]:
    """Return the calls that seed one of the streams, in the order of execution."""
    return [one for one in seedings(order) if one.everything or one.streams & streams]


@kept
def seeded_anywhere(order: Order, streams: frozenset[str]) -> bool:
    """Return whether a step seeds one of the streams, or code that was not executed may."""
    if order.cut or seedings_of(order, streams):
        return True
    modules = closure(order)
    return any(
        reachable_functions.may_run(order, modules, module, call)
        for module in modules
        for call in _seeding_in_text(module, streams)
    )


def never_called(order: Order, streams: frozenset[str]) -> Unused | None:
    """Return a function that would only seed one of the streams, and is never called."""
    modules = closure(order)
    for module in filterfalse(attrgetter("outside"), modules):
        for call in _seeding_in_text(module, streams):
            function = module.function_of(call)
            if function is None or not _only_seeds(function):
                continue
            if not reachable_functions.may_run(order, modules, module, call):
                return Unused(module, function)
    return None


def _only_seeds(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function does nothing but seed, set switches, ask and print.

    It keeps and returns nothing.

    Return False for a function that seeds data workers.
    """
    if "worker" in function.name or holds(function, ast.Yield, ast.YieldFrom):
        return False
    calls = (last_word(call.func).lower() for call in within(function.body, ast.Call))
    given = {one.arg for one in within(function.args, ast.arg)}
    returned = (one.value for one in within(function, ast.Return) if one.value is not None)
    kept = (one for one in within(function, ast.Attribute) if isinstance(one.ctx, ast.Store))
    return (
        all(map(_OF_SEEDERS.search, calls))
        and given.issuperset(map(last_word, returned))
        and given.isdisjoint(last_word(one.value) for one in kept)
    )


_OF_SEEDERS = pattern("streams", "of_seeders")


@kept
def closure(order: Order) -> tuple[Module, ...]:
    """Return the modules of a program: its entry module, and all that this imports."""
    return imported(order.root)


@kept
def imported(root: Module) -> tuple[Module, ...]:
    """Return a module and the modules that it imports, directly or not."""
    found = {id(root): root}
    waiting = [root]
    while waiting:
        for other in waiting.pop().imports:
            if id(other) not in found:
                found[id(other)] = other
                waiting.append(other)
    return tuple(found.values())


@kept
def trains(order: Order) -> bool:
    """Return whether a program trains, and does not only export, test or list shapes."""
    return any(map(is_training, every(order)))


def is_training(call: Call) -> bool:
    """Return whether a call is a part of a training, as `backward` or `fit`."""
    is_agent = call.method == "learn" and call.name.startswith(_AGENTS)
    return is_agent or call.method in _TRAINS or call.named(*_TRAINERS)


def is_spawned(call: Call) -> bool:
    """Return whether a call runs in a spawned process, without the parent process's objects."""
    return call.by is not None and call.by.named(*_SPAWNS)


def reaches(seed: Call, draw: Call) -> bool:
    """Return whether a seed is set in the process in which a call draws.

    A spawned process executes the modules again, without the code below their `__main__` guards,
    and has no seed of its parent process.
    """
    if not is_spawned(draw) or seed.by is draw.by:
        return True
    around = (seed.node, *seed.module.around(seed.node))
    return not seed.through and not any(map(is_guard, around))


@kept
def uses_framework(order: Order) -> bool:
    """Return whether the program imports a framework or numpy.

    Its draws can reach a training then.
    """
    return any(
        module.uses_package(*FRAMEWORKS, "numpy", "pandas", "datasets") for module in closure(order)
    )


def title(streams: frozenset[str]) -> str:
    """Return the name of the first of the streams for a message, as `NumPy`."""
    return next((TITLES[name] for name in TITLES if name in streams), "the generator")


def short(name: str) -> str:
    """Return the usual short form of a name: `nn.Linear` for `torch.nn.Linear`."""
    for prefix, brief in _BRIEF.items():
        if name.startswith(prefix):
            return brief + name.removeprefix(prefix)
    return name


_BRIEF = {
    **dict.fromkeys(("torch.nn.", "mindspore.nn."), "nn."),
    **dict.fromkeys(("torch.utils.data.", "mindspore.dataset.", "keras.layers."), ""),
}


def at(step: Step, here: Module) -> str:
    """Return the line of a step, as `line 12`, with its file if it is not in `here`."""
    return line_at(step.module, step.line, here)


def line_at(module: Module, line: int, here: Module) -> str:
    """Return a line of a module, as `line 12`, with its file if `module` is not `here`."""
    shown = f"line {_shown_line(module, line)}"
    if module is here:
        return shown
    return f"{shown} of {module.shown}"


def place(step: Step) -> str:
    """Return the line of a step as an editor shows the line, with the cell number in a notebook."""
    return _shown_line(step.module, step.line)


def _shown_line(module: Module, joined_line: int) -> str:
    cell, line = module.source.place(joined_line)
    if cell is None:
        return str(line)
    return f"{line} of cell {cell}"


def given(call: Call, condition: str, position: int | None = None, *, sure: bool = False) -> bool:
    """Return whether a call gets an argument that meets a condition.

    condition  `NAME` (the argument is neither None nor False), or `NAME=VALUE` with this literal
    position   of the argument if it may come without its keyword
    sure       whether an unknown value does not count as this value
    """
    keyword, _, wanted = condition.partition("=")
    value = call.argument(position, keyword)
    if not wanted:
        return not is_none(value) and literal(value) is not False
    if value is None:
        return False
    options = value.options()
    if wanted in map(spelt, options):
        return True
    return not sure and any(one is UNKNOWN or isinstance(one, Parameter) for one in options)


def spelt(value: Value) -> str | None:
    """Return a literal as text; None if the value is no literal."""
    if not isinstance(value, Constant):
        return None
    number = value.value
    if isinstance(number, float) and number.is_integer():
        return str(int(number))
    return str(number)


def _seeding(call: Call) -> Seeding | None:
    """Return which streams a call seeds; None if it seeds none."""
    name = call.name
    match call.receiver:
        case Made(call=Call(name="functools.partial", first=External(dotted=function))):
            name = function
        case _ if call.own and isinstance(call.result, Instance):
            # a trainer of a library, of which a class of the user's may be one kind
            if call.result.is_a(*_TRAINERS_THAT_SEED):
                name = _TRAINERS_THAT_SEED[0]
    known = tables.seeds().get(name)
    if known is not None and not _puts_back(call):
        return Seeding(call, frozenset(known.streams))
    if call.named(*_CALLED_BY_SETTINGS) or (not call.own and _may_seed(call)):
        return Seeding(call, frozenset(), everything=True)
    return None


_CALLED_BY_SETTINGS = names("streams", "called_by_settings")


_TRAINERS_THAT_SEED = ("transformers.Trainer", "transformers.Seq2SeqTrainer")


def _puts_back(call: Call) -> bool:
    """Return whether a call restores a generator state that the program took before.

    Or sets a state inside of `fork_rng`, which ends with the block.
    """
    if call.method not in ("set_rng_state", "set_rng_state_all"):
        return False
    is_in_fork = any(one.made_by("torch.random.fork_rng") for one in call.contexts)
    return is_in_fork or any(one.made_by(*_STATES) for one in call.inputs)


_STATES = names("streams", "states")


def _may_seed(call: Call) -> bool:
    """Return whether a call may seed.

    A function of an unknown library that is named so, or an object that gets a seed.
    """
    package, _, rest = call.name.partition(".")
    last = call.method.lower()
    if call.name == "?":
        # A name that a star brings of a module that is not there.
        last = syntax.word(call.node).lower()
    if package in _KNOWN_SEEDS:
        return False
    if _SEEDER.search(last) and not _NO_SEEDER.search(last):
        return package != "torch"
    if call.name.endswith(".random.seed"):
        return package not in _OWN_SEEDS  # a library that seeds all generators, or one like NumPy
    if package in _OWN_SEEDS or package == "?" or not rest:
        return False
    return "()" not in call.name and not is_none(call.keywords.get("seed"))


def _seeding_in_text(module: Module, streams: frozenset[str]) -> Iterator[ast.Call]:
    """Yield the calls in the text of a module that seed one of the streams, executed or not."""
    # Most modules seed nothing, and a look at the text is faster than one at each call.
    if not _SEEDS.search(module.source.text):
        return
    for node in _seeding_calls(module):
        known = tables.seeds().get(module.name_of(node.func))
        if known is not None and not streams.isdisjoint(known.streams):
            yield node


@kept
def _seeding_calls(module: Module) -> tuple[ast.Call, ...]:
    """Return the calls whose last word is the name of a seeding function, as `manual_seed`."""
    words = tables.last_parts()
    return tuple(node for node in module.index.calls if last_word(node.func) in words)


def _drawing(call: Call) -> Drawing | None:
    """Return what a call draws and from which streams; None if it draws nothing."""
    known = tables.draws().get(call.name)
    if known is not None:
        if _draws(call, known):
            return Drawing(call, known, _streams(call, known))
        return None
    # `tensor.normal_()`, where a torch tensor it is
    is_in_place = call.library_method in _IN_PLACE and not call.name.startswith(_OF_OTHERS)
    if is_in_place and not given(call, "generator"):
        return Drawing(call, _FILLED, frozenset({"torch", "device"}))
    if not call.name.endswith(RESET):
        return None
    # `layer.reset_parameters()`: a layer draws its weights again
    of_layer = tables.draws().get(call.name.removesuffix(RESET))
    if of_layer is None or of_layer.kind != "weights":
        return None
    again = msgspec.structs.replace(of_layer, when="call")
    return Drawing(call, again, frozenset({"torch", "device"}))


_IN_PLACE = words("streams", "in_place")
_OF_OTHERS = names("streams", "of_others")
_FILLED = tables.Draws(stream="torch", kind="number", when="call")


RESET = "().reset_parameters"


def _draws(call: Call, known: tables.Draws) -> bool:
    if any(given(call, one, known.position(one)) for one in known.unless):
        return False
    if not all(given(call, one, known.position(one), sure=True) for one in known.only):
        return False
    if not known.constant:
        return True
    initialisers = (call.argument(known.position(one), one) for one in known.constant)
    constants = sum(map(_is_constant, filter(None, initialisers)))
    if given(call, "has_bias=False"):
        return constants < 1
    return constants < known.needed


_INITIALISERS = pattern("streams", "initialisers")


def _is_constant(value: Value) -> bool:
    """Return whether an initializer surely draws nothing from a global generator.

    A constant, or an initializer with its own seed.

    Return True as well for an initializer that the text does not show, because nothing is claimed
    of it.
    """
    if is_none(value):
        return False
    for origin in value.origin():
        name = ""
        match origin:
            case Constant(value=str(text)):
                name = text
            case Made(call=call) if given(call, "seed"):
                continue
            # numbers that are drawn at once are draws of their own
            case Made(call=Call(name=dotted)) | External(dotted=dotted) if ".random." not in dotted:
                name = dotted.rpartition(".")[2]
        if _INITIALISERS.fullmatch(name):
            return False
    return True


_OF_KERAS = words("streams", "of_keras")


def is_of_tensorflow(module: Module, kind: str) -> bool:
    """Return whether the Keras of a project draws from TensorFlow's generator.

    A dropout (`layer`) does before Keras 3, all other kinds of draws before 2.10.
    """
    if kind == "layer":
        return module.is_below("tensorflow", 2, 16) or module.is_below("keras", 3)
    return module.is_below("tensorflow", 2, 10) or module.is_below("keras", 2, 10)


def _streams(call: Call, known: tables.Draws) -> frozenset[str]:
    """Return the generators that a draw may use.

    For torch that of the device of the call, or both (CPU and accelerator) if the device is not
    known.
    """
    if known.stream == "backend":
        return _OF_KERAS
    if known.stream == "keras" and is_of_tensorflow(call.module, known.kind):
        return frozenset({"tensorflow"})
    if known.stream != "torch":
        return frozenset({known.stream})
    device = call.keywords.get("device")
    if device is None:
        return frozenset({"torch"})
    name = literal(device)
    if not isinstance(name, str):
        return frozenset({"torch", "device"})
    if name.startswith("cpu"):
        return frozenset({"torch"})
    return frozenset({"device"})
