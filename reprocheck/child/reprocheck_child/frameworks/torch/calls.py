"""Records one operator call as a fact.

The fact has the call's tensors by their names in the operator's schema, the script's line and the
module, and in the backward pass the autograd node.
"""

import os
import sys
from typing import Any, Dict, List, Optional, Sequence

from .identity import Made
from .layouts import Layouts
from .operand_values import Sought
from .parts import FAKES

LIMIT = 100_000
"""Operator calls recorded in a process."""
_ORIGINS = 500_000
_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_VIEWS = ("_unsafe_view", "_reshape_alias", "lift_fresh")
_OVERWRITING = (
    "copy_", "fill_", "zero_", "normal_", "uniform_", "random_", "exponential_", "log_normal_",
    "geometric_", "cauchy_", "set_", "resize_",
)  # fmt: skip
_OUTSIDE: Dict[str, Optional[str]] = {"own": None, "engine": ""}
"""Whose code ends the look for the user's line, and what is said then."""
_SCRATCH = {
    "_embedding_bag": 1,
    "_embedding_bag_forward_only": 1,
    "mkldnn_rnn_layer": 3,
    "_cudnn_rnn": 3,
    "miopen_rnn": 3,
}
"""Operators whose later outputs are scratch memory: how many of the first ones are results."""


class Origin:
    """The operator of a forward that an autograd node belongs to."""

    __slots__ = ("line", "module")

    def __init__(self, line: str, module: str) -> None:
        self.line, self.module = line, module


_NOWHERE = Origin("", "")


class Call:
    """An operator call that has not returned yet."""

    __slots__ = ("function", "keys", "line", "mutated", "node", "recorded", "states")

    def __init__(self, function: Any, line: str, node: Any) -> None:
        self.function, self.line, self.node = function, line, node
        self.keys: Dict[str, Any] = {}
        self.states: Optional[Dict[str, bytes]] = None
        self.mutated: List[Any] = []
        self.recorded = False


class Calls:
    """The facts of operator calls."""

    def __init__(self, torch: Any, deep: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.prints = deep.fingerprints
        self.layouts = Layouts(torch, deep.fingerprints)
        self.schemas = Made(lambda function: _Schema(torch, function))
        self.owners = Made(self._owner)  # code object -> whose it is
        self.origins: Dict[int, Origin] = {}  # number of an autograd node -> its operator
        self.first = 0  # number of the first node of the stretch under way
        self.count = 0
        # In a backward pass, the node that calls the operator: only C++ knows it. The debug mode of
        # torch (`torch.utils._debug_mode`) asks the same function.
        self.node = torch._C._current_autograd_node
        # The number that the next node of this thread will get: a node of the forward and the
        # operators of its backward are told apart by it. Versions without it say 0.
        self.number = getattr(torch.autograd, "_get_sequence_nr", int)
        self.function_node = torch.autograd.function.BackwardCFunction
        self.constants = (torch.dtype, torch.device, torch.layout, torch.memory_format)
        self.sought: Optional[Sought] = None
        if deep.recorder.sought:
            self.sought = Sought(torch, deep, deep.recorder.sought)

    def begin(self) -> None:
        """Note that autograd nodes from here on belong to recorded forward operators."""
        self.first = self.number()

    def forget(self) -> None:
        """Forget the autograd nodes of a graph after its backward pass."""
        if len(self.origins) > _ORIGINS:
            self.origins.clear()

    def before(
        self, function: Any, types: Any, args: Any, kwargs: Any, inside: str
    ) -> Optional[Call]:
        """Return the facts known before an operator runs; None if the operator is not recorded."""
        schema = self.schemas[function]
        # tensors without data: a compiler traces, nothing is computed
        if schema.silent or any(kind.__module__.startswith(FAKES) for kind in types):
            return None
        line = self._line()
        if line is None:
            return None
        call = Call(function, line, self.node())
        call.recorded = not schema.view and self._wanted(call.node, inside)
        if not call.recorded:
            # in the forward it may still make a node, whose operator is to be known later
            return call if call.node is None else None
        if self.count >= LIMIT:
            self.deep.unrecorded(
                "operators", "more than %d calls: the later ones are not recorded" % LIMIT
            )
            return None
        self.count += 1
        self._inputs(call, schema, args, kwargs)
        # only where it may draw: to read the states costs more than the rest of the fact
        if schema.random:
            call.states = self.deep.states()
        return call

    def after(self, call: Call, output: Any) -> None:
        """Write the fact of an operator that has returned, and remember its node in the graph."""
        # Autograd makes the node of an operator before it runs the kernels below. So the number
        # that was given out last is that of the node which has called this operator.
        module = self.deep.module_path()
        number = self.number() - 1
        if number >= self.first:
            self.origins.setdefault(number, Origin(call.line, module))
        if not call.recorded:
            return
        schema, keys = self.schemas[call.function], call.keys
        if call.states is not None:
            keys.update(self.deep.moved(call.states))
        keys["out"] = self._outputs(call, schema, output)
        if call.node is not None:
            keys["bw"], keys["node"] = True, call.node.name()
            # nodes whose gradient is computed by another formula while a dispatch mode is there:
            # found by comparing 75 functions bit by bit
            if keys["node"].startswith(("ProdBackward", "CumprodBackward")):
                self.deep.recorder.note(
                    "gradient-of-products",
                    "Recording each operator changes how the gradient of a product is rounded.",
                )
            origin = self.origins.get(call.node._sequence_nr(), _NOWHERE)
            module, call.line = module or origin.module, call.line or origin.line
        if call.line:
            keys["l"] = call.line
        if module:
            keys["m"] = module
        self.deep.seen("op", schema.name, **keys)

    def backward(self, name: str, number: int, function: Any, given: Any, returned: Any) -> None:
        """Record the backward of an `autograd.Function`, given the gradients of its outputs."""
        keys: Dict[str, Any] = {"bw": True, "node": name, "k": "autograd.Function"}
        code: Any = getattr(function.backward, "__code__", None)
        if code is not None:
            file = self.deep._user_file(code.co_filename)
            if file:
                keys["l"] = "%s:%d" % (file, code.co_firstlineno)
        origin = self.origins.get(number, _NOWHERE)
        if origin.module:
            keys["m"] = origin.module
        self.deep.seen(
            "op",
            name,
            **{"in": self.prints.leaves(given), "out": self.prints.leaves(returned)},
            **keys,
        )

    def _wanted(self, node: Any, inside: str) -> bool:
        """Return whether an operator call is recorded.

        In a forward pass every call is. In a backward pass with a module chosen (`inside`), only
        calls of autograd nodes that belong to the module's recorded operators, or to an
        `autograd.Function` of the script.
        """
        if node is None or not inside:
            return True
        if node._sequence_nr() in self.origins or isinstance(node, self.function_node):
            return True
        # a checkpoint runs the forward again
        return bool((self.deep.module_path() + ".").startswith(inside + "."))

    def _inputs(self, call: Call, schema: "_Schema", args: Any, kwargs: Any) -> None:
        names: Sequence[Any] = schema.names
        if len(names) < len(args):  # no schema
            names = range(len(args))
        given = dict(zip(names, args))
        given.update(kwargs)
        call.mutated = [given[name] for name in schema.written if name in given]
        for name in schema.overwritten:
            given.pop(name, None)
        for name, value in list(given.items()):
            if isinstance(value, self.torch.Generator):
                del given[name]
                if value is not self.torch.default_generator:
                    call.keys["private"] = self.deep.hash_bytes(value.get_state().numpy().tobytes())
            elif callable(value):
                given[name] = getattr(value, "__name__", type(value).__name__)
            elif isinstance(value, self.constants):
                given[name] = str(value)[:100]
        call.keys["in"] = self.prints.leaves(given)
        how = self.layouts.of(given)
        if how:
            call.keys["how"] = how
        if self.sought is not None:
            self.sought.look(schema.name, given, call.keys["in"])

    def _outputs(self, call: Call, schema: "_Schema", output: Any) -> List[Any]:
        if output is None and call.mutated:
            output = call.mutated
            if len(output) == 1:
                output = output[0]
        if schema.scratch and isinstance(output, (tuple, list)):
            output = output[: schema.scratch]
        if schema.uninitialised and isinstance(output, self.torch.Tensor):
            call.keys["uninitialised"] = True
            dtype = str(output.dtype).replace("torch.", "")
            return [["", {"h": "", "d": dtype, "s": list(output.shape)}]]
        return list(self.prints.leaves(output))

    def _line(self) -> Optional[str]:
        """Return the script's line that an operator runs for; "" if no frame is the script's.

        None if the recorder itself called the operator.
        """
        frame: Any = sys._getframe(4)
        owners = self.owners
        while frame is not None:
            owner = owners[frame.f_code]
            if owner == "user":
                return str(self.deep.source(3))
            if owner in _OUTSIDE:
                return _OUTSIDE[owner]
            frame = frame.f_back
        return ""

    def _owner(self, code: Any) -> str:
        """Return who owns a function's code: `user`, `other` (a library), `own` (the recorder).

        `wrapper` is a wrapper of the recorder around another function: the search for the script's
        line goes on to the frame that called the wrapper.
        """
        file = code.co_filename
        if not os.path.abspath(file).startswith(_OWN):
            return "user" if self.deep._user_file(file) else "other"
        # how the variable begins in which each wrapper of the recorder's holds what it wraps
        wraps = any(name.startswith("real") for name in code.co_freevars)
        known = {"run_backward": "engine", "__torch_dispatch__": "wrapper"}
        return known.get(code.co_name, "wrapper" if wraps else "own")


class _Schema:
    """The parts of an operator's schema that the recorder needs, read once for each operator."""

    def __init__(self, torch: Any, function: Any) -> None:
        # An OpOverload has the schema that it was declared with, private but as old as the class:
        # nothing else says which arguments are written to. Operators of higher order have none.
        schema = getattr(function, "_schema", None)
        space, _, name = str(function).partition(".")
        self.name = str(function)
        if not name:
            self.name = "%s.%s" % (type(function).__name__, function)
        self.silent = space in ("profiler", "prim", "c10d_functional_wait")
        arguments = list(getattr(schema, "arguments", ()))
        written = [argument for argument in arguments if _writes(argument)]
        self.names = [argument.name for argument in arguments]
        self.written = [argument.name for argument in written]
        aten = ""  # the name of an operator of torch itself: the tables know no others
        if space == "aten":
            aten = name.partition(".")[0]
        overwrites = aten in _OVERWRITING
        self.overwritten = [
            argument.name
            for argument in written
            if overwrites or argument.kwarg_only  # `out=`
        ]
        self.view = aten in _VIEWS or _is_view(schema)
        # an operator of another library says nothing about what it draws
        self.random = not aten or torch.Tag.nondeterministic_seeded in function.tags
        self.scratch = _SCRATCH.get(aten, 0)
        self.uninitialised = aten.startswith(("empty", "new_empty", "_empty", "resize_"))


def _writes(value: Any) -> bool:
    """Return whether a schema says that an argument or a result is written to in place."""
    return bool(getattr(value.alias_info, "is_write", False))


def _is_view(schema: Any) -> bool:
    """Return whether an operator only returns a view of its first input.

    Such an operator computes no number, and the next operator that reads the view records it.
    """
    returns = list(getattr(schema, "returns", ()))
    aliases = [value for value in returns if value.alias_info is not None]
    if not returns or len(aliases) < len(returns):
        return False
    return not any(map(_writes, aliases))
