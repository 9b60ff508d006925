"""List states of a training that a patch saves and sets again.

Parts with a state dict, generators, and what the order of the data is drawn from.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from reprocheck.fixes.seeds import BY_NAME, STATES
from reprocheck.resume.fix.script import OWN, Scope, Script
from reprocheck.resume.fix.source import Source
from reprocheck.resume.gap.mersenne_twister import class_of
from reprocheck.scan.index import within
from reprocheck.scan.syntax import word


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """The expressions that read and set a state.

    key       the dictionary key under which the state is saved
    read      the expression that reads the state
    write     the statement that sets the state, with `{}` for the value
    drawn     whether something draws from the state while a pass is under way
    """

    key: str
    read: str
    write: str
    drawn: bool = True

    @property
    def setter(self) -> str:
        """The function that sets the state, as a script calls it."""
        return self.write.partition("({}")[0]

    @property
    def of_pass(self) -> str:
        """The name and key of the state as it was when the pass over the data began."""
        return f"{self.key}_of_pass"

    def set_to(self, value: str) -> str:
        """Return the statement that sets the state to a value."""
        return self.write.format(value)


_NUMPY = "[{0}[0], {0}[1].tolist(), *{0}[2:]]"
"""What is saved of a state of NumPy's that holds an array: `torch.load` reads it without leave to
read any object.
"""


KEYS = {"torch": "rng", "numpy": "numpy_rng", "python": "python_rng", "cuda": "cuda_rng"}
"""Generators of the process, and the key of their states."""
_DRAWS = (("RandomSampler", "RandomSampler("), ("DataLoader", "shuffle=True"))
"""Calls that draw an order, with what stands in their text then."""


def key_of(expression: str) -> str:
    """Return a key for what an expression reads: its last name.

    >>> key_of("self.optimizers[0]")
    'optimizers_0'
    """
    return re.sub(r"\W+", "_", expression.rpartition(".")[2]).strip("_")


def value_of(loaded: str, key: str) -> str:
    """Return the expression for a value of the checkpoint, by a dictionary key or subscripts."""
    subscripts = key if key.startswith("[") else f"[{key!r}]"
    return loaded + subscripts.replace("'", '"')


def generators(source: Source, names: Collection[str]) -> Iterator[State]:
    """Yield the generators that the script can reach by a name.

    These are those of libraries, such as `torch` or `cuda:0`, and its own.
    """
    for name in dict.fromkeys(one if class_of(one) else one.partition(":")[0] for one in names):
        expression = source.saving.names.get(name, "")
        if name in KEYS:
            yield from _of_process(source, name)
        elif expression and class_of(name) in STATES:
            yield _own(source, expression, class_of(name))


def _of_process(source: Source, name: str) -> Iterator[State]:
    stream = BY_NAME[name]
    known = source.script.names.of_global
    for alias in dict.fromkeys((stream.module, "np")):
        if known(alias) != stream.module:
            continue
        state = f"{alias}.{stream.read}"
        is_plain = name != "numpy" or state in map(ast.unparse, source.held.values())
        read = state if is_plain else _NUMPY.format(state)
        on_host = ".cpu()" if source.is_moved and name == "torch" else ""
        write = f"{alias}.{stream.write.replace('{}{}', '{}' + on_host)}"
        yield State(key=source.saved_as(read, KEYS[name]), read=read, write=write)


def _own(source: Source, expression: str, kind: str) -> State:
    read, write = (text.format(expression) for text in STATES[kind])
    key = source.saved_as(read, key_of(expression))
    return State(key=key, read=read, write=write)


def of_the_order(source: Source, scopes: Collection[Scope]) -> Iterator[State]:
    """Yield the states that determine the order of the data.

    Generators of the script's own, counters of its samplers, and the generator of PyTorch if a
    loader shuffles with it.

    scopes  the scopes in all of which the name must be known
    """
    script = source.script
    for made in script.made:
        is_seen = script.scope(made.statement) in {*scopes, script.tree}
        if is_seen and all(script.is_known(made.name, scope) for scope in scopes):
            if made.maker in STATES:
                yield _own(source, made.name, made.maker)
            # numbers that an iterable of the script counts on when a pass over it begins
            for name in _counted(source.script, made.maker.removeprefix(f"{OWN}.")):
                read = f"{made.name}.{name}"
                key = source.saved_as(read, read.replace(".", "_"))
                yield State(key=key, read=read, write=f"{read} = {{}}", drawn=False)
    if any(map(_shuffles, script.index.calls)):
        yield from _of_process(source, "torch")


def _counted(script: Script, name: str) -> list[str]:
    """Return the attributes that `__iter__` of a class counts on."""
    methods = [
        one
        for one in script.index.functions
        if one.name == "__iter__"
        if getattr(script.holder(one), "name", "") == name
    ]
    added = [ast.unparse(one.target) for one in within(methods, ast.AugAssign)]
    return [target.removeprefix("self.") for target in dict.fromkeys(added) if "self." in target]


def _shuffles(call: ast.Call) -> bool:
    """Return whether a call makes a loader or sampler that shuffles by PyTorch's generator."""
    text = ast.unparse(call)
    named = any(word(call) == name and draws in text for name, draws in _DRAWS)
    return named and "generator=" not in text


def parts(source: Source, names: Mapping[str, str]) -> Iterator[tuple[str, State]]:
    """Yield the lost parts that have a state, by what they are called in a trace.

    Optimizers, schedulers, scalers and modules, with the subscripts under which the file holds them
    already; copies of weights and numbers of the script's own by the expression that reaches them.
    """
    for part, held in names.items():
        expression = source.saving.names.get(part, "")
        if expression:
            read, write = f"{expression}.state_dict()", "{part}.load_state_dict({})"
        else:
            expression = part.partition("[")[0]
            root = expression.partition(".")[0]
            scopes = (source.script.scope(source.saved), source.script.tree)
            if not any(source.script.is_known(root, scope) for scope in scopes):
                continue
            read, write = expression, "{part} = {}"
        key = held or source.saved_as(read, key_of(expression))
        yield part, State(key=key, read=read, write=write.replace("{part}", expression))
