"""Finds the names that a script has for objects.

These are the variables of a frame, and places in the lists and dicts that they hold.

Loaded only where a run is recorded at level `module` or `op`.
"""

import dis
import sys
from collections import deque
from contextlib import suppress
from itertools import islice
from types import CodeType, FunctionType
from typing import Any, Dict, Iterator, List, Set, Tuple

from ..process.user_files import INSTALLED

LONGEST = 1000
"""Elements of a list that are looked at for a name."""
NESTED = 100
"""How long a list within a list, or an object of the script's, may be to be looked into."""
DEPTH = 2
"""Lists within lists that are looked into."""

_OF_FRAMES = ("locals", "globals")
"""Attributes in which libraries keep the variables of their functions."""
REACH, MOST = 3, 2000
"""Attributes and subscripts of one expression, and things that are looked at for one."""

LARGEST_COUNT = 1 << 31
"""What is larger is a time in nanoseconds, an address or a seed."""

Part = Tuple[str, Any]
"""A subscript such as `[0]`, and the element that has it."""


def variable(frame: Any, thing: Any) -> str:
    """Return the name of the variable in a frame that holds `thing`; "" if none does.

    The variable holds the object itself, or a list or dict with the object (`weights[0]`).
    """
    named = list(variables(frame))
    for name, value in named:
        if value is thing:
            return name
    # a place in a list only then: a variable of its own is the better name
    for name, value in named:
        inner = place(value, thing)
        if inner:
            return name + inner
    return ""


def variables(frame: Any) -> Iterator[Tuple[str, Any]]:
    """Return the local variables of a frame, the attributes of its `self`, and global variables."""
    if frame is None:
        return
    # copies: the script may go on in another thread, and from Python 3.13 on `f_locals` is a view
    local = dict(frame.f_locals)
    yield from local.items()
    own = getattr(local.get("self"), "__dict__", None)
    if isinstance(own, dict):
        # the last two are where `torch.nn.Module.__setattr__` puts what is assigned to it
        namespaces = [own, own.get("_modules"), own.get("_parameters")]
        for namespace in filter(None, namespaces):
            yield from list(namespace.items())
    # the code of a module has one namespace for both
    if frame.f_globals is not frame.f_locals:
        yield from list(frame.f_globals.items())


def loop_variables(frame: Any) -> Set[str]:
    """Return the variables that loops of a frame's code assign: their values change."""
    names: Set[str] = set()
    within = False
    for step in dis.get_instructions(frame.f_code):
        if step.opname == "FOR_ITER":
            # what follows stores the next element, in one variable or unpacked into several
            within = True
        elif within and step.opname.startswith("STORE_"):
            names.update(_stored(step))
        elif step.opname != "UNPACK_SEQUENCE":
            within = False
    return names


def _stored(step: dis.Instruction) -> Tuple[str, ...]:
    # Python 3.13 does two things with one instruction: STORE_FAST_STORE_FAST stores two variables,
    # STORE_FAST_LOAD_FAST stores the first and reads the second
    if not isinstance(step.argval, tuple):
        return (step.argval,)
    return step.argval[: step.opname.count("STORE")]


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and those of the functions, classes and comprehensions inside it."""
    yield code
    # lambdas and comprehensions are among them; Python 3.12 has the latter in the code itself
    for inner in filter(_is_code, code.co_consts):
        yield from codes(inner)


def _is_code(constant: Any) -> bool:
    return isinstance(constant, CodeType)


def cells(function: Any) -> Dict[str, Any]:
    """Return the variables of a function's closure by name, without those that are still empty."""
    variables_by_name: Dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        # ValueError: the function around it has given that variable no value yet
        with suppress(ValueError):
            variables_by_name[name] = cell.cell_contents
    return variables_by_name


def place(value: Any, thing: Any, several: Any = None, depth: int = 1) -> str:
    """Return the place of an object in a list, a tuple or a dict, such as `[0]`.

    It is "" where the object is not there, or is the only one of the kind `several`.
    """
    elements = parts(value)
    for part, element in elements:
        if element is thing:
            # a list with one module in it is more likely an argument than the place of a layer
            return part if _has_two(elements, several) else ""
    if depth >= DEPTH or len(elements) > NESTED:
        return ""
    for part, element in filter(_is_short, elements):
        inner = place(element, thing, None, depth + 1)
        if inner:
            return part + inner
    return ""


def _is_short(part: Part) -> bool:
    # a longer list is data, and looking into each of its elements would take long
    return isinstance(part[1], (list, tuple, dict)) and len(part[1]) <= NESTED


def _has_two(elements: List[Part], kind: Any) -> bool:
    return kind is None or [isinstance(element, kind) for _, element in elements].count(True) > 1


def parts(value: Any) -> List[Part]:
    """Return (subscript, element) of a plain list, tuple or dict."""
    if isinstance(value, (list, tuple)):
        return [("[%d]" % index, element) for index, element in enumerate(value[:LONGEST])]
    # no subclass: its `items` may be the script's, and run code
    if type(value) is dict:
        items = list(islice(value.items(), LONGEST))
        # other keys may read otherwise in each run, as objects by their address
        return [("[%r]" % (key,), element) for key, element in items if type(key) in (str, int)]
    return []


def attributes(value: Any) -> List[Part]:
    """Return (name, value) of the attributes of an object of a script's own class.

    A network that is no module holds its layers there.
    """
    own = getattr(value, "__dict__", None)
    if type(own) is not dict or len(own) > NESTED or isinstance(value, (type, FunctionType)):
        return []
    # modules of networks have names of their own; an average of the script's may well be called
    if callable(value) and ("_modules" in own or is_library(value)):
        return []
    return [("." + name, one) for name, one in list(own.items())]


def is_count(value: Any) -> bool:
    """Return whether a value can be a counter of the script, such as a step."""
    return type(value) is int and abs(value) < LARGEST_COUNT


def is_library(value: Any) -> bool:
    """Return whether the class of an object is that of an installed library."""
    module = sys.modules.get(type(value).__module__)
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and any(part in file for part in INSTALLED)


def expressions(frame: Any, wanted: Dict[int, str]) -> Dict[str, str]:
    """Return the expressions by which a frame's code reaches objects, such as `self.optimizer`.

    wanted  `id` of each object -> its name; the result has the shortest expression for each name
    """
    local = dict(frame.f_locals)
    outer = {} if frame.f_globals is frame.f_locals else dict(frame.f_globals)
    waiting = deque(
        (name, value, 1) for namespace in (local, outer) for name, value in namespace.items()
    )
    shortest: Dict[str, str] = {}
    seen: Set[int] = set()
    while waiting and len(seen) < MOST and len(shortest) < len(wanted):
        text, value, depth = waiting.popleft()
        if id(value) in wanted:
            shortest.setdefault(wanted[id(value)], text)
        if depth < REACH and id(value) not in seen:
            seen.add(id(value))
            waiting += [(text + part, namespace, depth + 1) for part, namespace in _reached(value)]
    return shortest


def _reached(value: Any) -> List[Part]:
    """Return the attributes and elements of an object; of a module of a network its parts, too."""
    if isinstance(value, (type, FunctionType)):
        return []
    own = getattr(value, "__dict__", None)
    if type(own) is not dict or len(own) > NESTED:
        return parts(value) if type(value) in (list, tuple, dict) and len(value) <= NESTED else []
    modules = own.get("_modules")
    named = {**own, **modules} if type(modules) is dict else own
    return [("." + name, part) for name, part in list(named.items()) if name not in _OF_FRAMES]
