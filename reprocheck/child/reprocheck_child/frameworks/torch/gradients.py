"""Records backward passes and updates.

In this order: autograd nodes between the modules and the loss, gradients as they are computed, and
weights after the update.
"""

import weakref
from _thread import get_ident
from contextlib import suppress
from typing import Any, Dict, List, Set, Tuple

from ...deep_levels.scope import variable
from ...shared.iterations import BACKWARD
from .graph import Walk, graph_leaves
from .identity import Made
from .late_writes import Written

NODES = 200
"""Autograd nodes looked at between the loss and the outputs of modules."""
LEAVES = 20_000
"""Autograd nodes looked at for weights that belong to no module and no optimizer."""
_OUTPUTS = 100_000
_UNSEEN = (None, None)
_PLAIN = frozenset((bool, int, float, str, type(None)))
_SAVED = "_raw_saved_"
"""How the attributes begin in which an autograd node keeps what it saved, not unpacked: torch
documents `_saved_` and `_raw_saved_` in its notes on autograd, as meant for inspection.
"""


class Gradients:
    """The recorder of all that happens from the loss to the update."""

    def __init__(self, torch: Any, deep: Any, names: Any, adapter: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.prints = deep.fingerprints
        self.names = names
        self.adapter = adapter
        # What the recorder asks of a tensor is no call of the script's: a subclass of Tensor must
        # not see it, nor a mode that the script has put in place.
        self.aside = torch._C.DisableTorchFunction
        # (number of an autograd node, its output) -> the hook there
        self.outputs: Dict[Tuple[int, int], _Output] = {}
        self.recorded: Set[int] = set()  # numbers of these nodes; a thread gives each number once
        self.frozen: Dict[int, str] = {}  # id of a named weight that needed no gradient -> its name
        # new optimizers: a reference, names of their tensors, the line
        self.built: List[Tuple[Any, Dict[int, str], str]] = []
        # weights without module and optimizer: the leaves of the last graph
        self.bare: List[Any] = []
        self.saved = Made(
            lambda kind: [name[len(_SAVED) :] for name in dir(kind) if name.startswith(_SAVED)]
        )  # class of an autograd node -> what it saves
        # weight -> the look of its gradient when that was recorded last, and its fingerprint
        self.last: Dict[str, Tuple[Any, Any]] = {}
        # hyper-parameters as text, and their leaves
        self.hyper: Tuple[str, Any] = ("", [])
        # whether weights may have been written to by hand since they were recorded
        self.after_update = False
        self.written = Written(deep, names)

    def watch_output(self, tensor: Any, path: str) -> None:
        """Record the gradient of a module's output, which has a node, when it is computed.

        The hook is set on the autograd node behind the output, because user code could see one on
        the tensor.
        """
        node = tensor.grad_fn
        # not the node itself: it would keep the graph alive, and an id is given again
        # (`output_nr`: which of the outputs of the node the tensor is)
        key = (node._sequence_nr(), tensor.output_nr)
        known = self.outputs.get(key)
        if known is not None:
            known.paths.append(path)
            return
        if len(self.outputs) >= _OUTPUTS:
            self.outputs.clear()
            self.recorded.clear()
        self.recorded.add(key[0])
        hook = self.outputs[key] = _Output(self, path, tensor.output_nr)
        node.register_prehook(hook)  # called with the whole gradient of each output

    def watch_weight(self, weight: Any, name: str) -> None:
        """Record the gradient of a weight called `name` each time the backward pass adds to it."""
        if not weight.requires_grad:
            self.frozen[id(weight)] = name
        elif weight.is_leaf and not _own_hooks(weight):
            weight.register_post_accumulate_grad_hook(_Weight(self, name))

    def unwatch_weight(self, weight: Any) -> bool:
        """Remove the recorder's hook from a weight; return whether the weight had such a hook."""
        own = _own_hooks(weight)
        for key in own:
            del weight._post_accumulate_grad_hooks[key]
        return bool(own)

    def unwatch_all(self) -> None:
        """Remove the recorder's hooks from all weights.

        Hooks on weights that are not found here remove themselves when they are called next.
        """
        for _, weight in self.names.parameters():
            self.unwatch_weight(weight)
        for leaf, _ in self.bare:
            self.unwatch_weight(leaf)
        self.bare.clear()
        self.last.clear()
        self.outputs.clear()
        self.written.marks.clear()

    def rest(self) -> None:
        """Forget the marks of weights when recording pauses.

        Otherwise writes during the pause would be reported when recording goes on.
        """
        self.written.marks.clear()

    def watch_thawed(self) -> None:
        """Watch weights whose `requires_grad` was False before and is True now."""
        for identity, name in list(self.frozen.items()):
            weight = self.names.parameter(identity)
            if weight is None:
                del self.frozen[identity]
            elif weight.requires_grad:
                del self.frozen[identity]
                self.watch_weight(weight, name)

    def before_backward(self, roots: Any, kind: str) -> None:
        """Record `roots` before a backward pass starts from them."""
        if self.deep.elsewhere():
            return
        self.deep.loss_first = True
        self.names.fills.end()
        with self.aside():
            if self.built:
                self._name_weights()
            self.written.look()
            if not self.adapter.built:
                self._name_leaves(roots)
                self.after_update = True
            self.deep.goes_on("torch")
            self.deep.seen("rng", "before backward", g=self.deep.rng())
            if self.deep.rests:
                return
            for place, saved in self._between(roots):
                self.deep.seen("between", place, **{"in": saved})
            place = "loss" if kind == BACKWARD else "autograd.grad"
            for root in roots:
                self.deep.seen("root", place, out=[["", self.prints.later(root)]])

    def returned(self, inputs: Any, gradients: Any) -> None:
        """Record the gradients of `inputs` that `autograd.grad` has returned.

        `autograd.grad` calls no hook of a weight.
        """
        if isinstance(inputs, self.torch.Tensor):
            inputs = (inputs,)
        for weight, gradient in zip(inputs, gradients):
            if not isinstance(weight, self.torch.Tensor):
                continue  # an edge of the graph
            name = self.names.name(weight)
            if name and gradient is not None:
                _Weight(self, name)(weight, gradient)

    def _between(self, roots: Any) -> List[Tuple[str, List[Any]]]:
        """Return (name, saved values) of autograd nodes between modules and loss.

        They are in the order in which the forward pass made them.
        """
        recorded = self.recorded

        def counts(node: Any) -> bool:
            # private: the number that the forward gave the node; see `graph`
            return node._sequence_nr() not in recorded and not hasattr(node, "variable")

        walk = Walk(roots, NODES, counts)
        nodes = sorted(walk, key=lambda node: node._sequence_nr())
        if walk.cut:
            self.deep.unrecorded(
                "between", "more than %d operations between the modules and the loss" % NODES
            )
        return [(node.name(), self._saved(node)) for node in nodes]

    def _saved(self, node: Any) -> List[Any]:
        """Return fingerprints of the tensors that an autograd node has saved for its backward pass.

        Tensors packed by the script's own hooks (`saved_tensors_hooks`) are left out, because
        unpacking one may run a forward pass.
        """
        values: List[Any] = []
        for name in self.saved[type(node)]:
            # An error is how torch says it: freed by a backward pass before, or written to since
            # (then autograd itself could not use it either).
            with suppress(RuntimeError):
                # `unpack_hook` is None where torch keeps the tensor itself. A version without that
                # attribute does not say, and is taken to have a hook.
                raw = getattr(node, _SAVED + name)
                raw = raw if isinstance(raw, (list, tuple)) else [raw]
                for value in raw:
                    if getattr(value, "unpack_hook", self) is not None:
                        self.deep.unrecorded(
                            "saved tensors of " + node.name(),
                            "packed by a hook of the script, or of an unknown kind",
                        )
                        return values
                # an `autograd.Function` of the script has all of them under a public name
                public = name == "tensors"
                saved = node.saved_tensors if public else getattr(node, "_saved_" + name)
                saved = saved if isinstance(saved, (list, tuple)) else [saved]
                for index, value in enumerate(saved):
                    if isinstance(value, self.torch.Tensor):
                        path = "%s.%d" % (name, index) if len(saved) > 1 else name
                        values.append([path, self.prints.later(value)])
        return values

    def optimizer_built(self, optimizer: Any) -> None:
        """Remember which variables of the script hold the tensors of a new optimizer."""
        frame = self.deep.frame(2)
        self.built.append(
            (weakref.ref(optimizer), self.names.optimized(optimizer, frame), self.deep.source(2))
        )

    def record_weights(self, root: Any) -> None:
        """Record the parameters and buffers of a module that were not recorded yet."""
        for weight in self.names.new_weights(root):
            out = [["", self.prints.later(weight.tensor, sketched=self.deep.boundary is None)]]
            if weight.buffer:
                self.deep.seen("weights", weight.name, call=False, out=out, b=True, **weight.made)
            else:
                self.deep.seen("weights", weight.name, call=False, out=out, **weight.made)
                self.watch_weight(weight.tensor, weight.name)

    def _name_weights(self) -> None:
        """Record the weights of new optimizers that have no name yet.

        They belong to modules that were not called yet, or to no module.
        """
        built, self.built = self.built, []
        for reference, variables, line in built:
            optimizer = reference()
            if optimizer is None:
                continue
            for root, given in self.names.roots(optimizer, variables):
                self.names.adopt(root, self.deep.frame(0), given)
                self.record_weights(root)
            for place, tensor in self.names.optimizer_weights(optimizer):
                if not self.names.name(tensor):
                    name = variables.get(id(tensor), place)
                    self._record(tensor, self.names.name_bare(tensor, optimizer, name), line)

    def _name_leaves(self, roots: Any) -> None:
        """Name the leaf tensors of a graph that belong to no optimizer and no module.

        New leaves are recorded as weights, the others as updated by hand.
        """
        leaves = graph_leaves(roots, self.torch.Tensor, LEAVES)
        leaves = [leaf for leaf in leaves if not self.names.name(leaf)]
        if not leaves:
            return
        # held to the end of the function: an id must not be given to another tensor before
        old, self.bare = self.bare, []
        before = {id(leaf): name for leaf, name in old}
        taken = set(before.values())
        frame = self.deep.frame(0)
        for index, leaf in enumerate(leaves):
            name = before.get(id(leaf)) or variable(frame, leaf) or "leaf[%d]" % index
            if name in taken:
                self.deep.seen("update", name, out=[["", self.prints.later(leaf)]])
            else:
                self._record(leaf, name, "")
            if id(leaf) not in before:
                self.watch_weight(leaf, name)
            self.bare.append((leaf, name))

    def _record(self, tensor: Any, name: str, line: str) -> None:
        keys = {"l": line} if line else {}
        self.deep.seen("weights", name, call=False, out=[["", self.prints.later(tensor)]], **keys)
        self.watch_weight(tensor, name)

    def record_by_hand(self) -> None:
        """Record, before a forward pass, weights that changed since their last update.

        If the script has no optimizer, all trained weights are recorded after each backward pass.
        """
        self.written.look()
        if self.adapter.built or not self.after_update:
            return
        self.after_update = False
        for name, weight in self.names.parameters():
            if weight.requires_grad:
                self.deep.seen("update", name, out=[["", self.prints.later(weight)]])

    def before_step(self, optimizer: Any, index: int, closure: bool) -> None:
        """Record an optimizer before its step; gradients only if it gets no `closure`."""
        with self.aside():
            if self.built:
                self._name_weights()
            place = "%s[%d]" % (type(optimizer).__name__, index)
            leaves: List[Any] = []
            several = len(optimizer.param_groups) > 1
            for number, group in enumerate(optimizer.param_groups):
                prefix = "param_groups[%d]." % number if several else ""
                values = {key: value for key, value in group.items() if key != "params"}
                if prefix:
                    weights = [self.names.name(tensor) or "?" for tensor in group["params"]]
                    values["params"] = ", ".join(weights)
                leaves += [[prefix + path, value] for path, value in self._hyper(values)]
            self.deep.seen("hyper", place, o=index, out=leaves)
            if not closure:
                self._reduced(optimizer, index)

    def _hyper(self, values: Dict[str, Any]) -> Any:
        """Return the leaves of hyper-parameters, those of the last time where nothing changed."""
        if not _PLAIN.issuperset(map(type, values.values())):
            return self.prints.leaves(values)
        text = repr(values)
        if self.hyper[0] != text:
            self.hyper = text, self.prints.leaves(values)
        return self.hyper[1]

    def after_step(self, optimizer: Any, index: int, closure: bool) -> None:
        """Record an optimizer that has stepped."""
        with self.aside():
            if closure:
                self._reduced(optimizer, index)
            seen, read, states = self.deep.seen, self.prints.read, optimizer.state
            marks: Dict[int, Tuple[str, Any]] = {}
            for name, weight in self.names.optimizer_weights(optimizer):
                out, look = read(weight, True, True)
                seen("update", name, o=index, out=(("", out),))
                mark = (look[0], look[3]) if look is not None else self.prints.mark(weight)
                marks[id(weight)] = name, mark
                for key, value in list(states.get(weight, {}).items()):
                    place = "%s:%s" % (name, key)
                    if type(value) is self.torch.Tensor:
                        held: Any = (("", read(value, False)[0]),)
                    else:
                        held = self.prints.leaves(value, False)
                    seen("update", place, o=index, out=held)
            self.deep.seen("rng", "after update", g=self.deep.rng())
            self.written.updated(optimizer, marks)

    def _reduced(self, optimizer: Any, index: int) -> None:
        last, self.last = self.last, {}
        again: List[Tuple[str, Any]] = []
        for name, weight in self.names.optimizer_weights(optimizer):
            gradient = weight.grad
            if gradient is None:
                continue
            look, known = last.get(name, _UNSEEN)
            fingerprint = known
            if look is None or not self.prints.unchanged(gradient, look):
                fingerprint, _ = self.prints.read(gradient)
            if fingerprint is known:
                again.append((name, known))
                continue
            if again:
                self.deep.seen_again("reduced", again, o=index)
                again = []
            self.deep.seen("reduced", name, o=index, out=(("", fingerprint),))
        if again:
            self.deep.seen_again("reduced", again, o=index)


class _Output:
    """The hook of the autograd node behind a module's output.

    `paths` are the modules that returned the output, the innermost first.
    """

    __slots__ = ("__weakref__", "gradients", "index", "paths")

    def __init__(self, gradients: Gradients, path: str, index: int) -> None:
        self.gradients, self.paths, self.index = gradients, [path], index

    def __call__(self, outputs: Any) -> None:
        """Record the gradient of the output."""
        gradients, gradient = self.gradients, outputs[self.index]
        deep = gradients.deep
        if gradient is None or deep.hooks.gone:
            return
        try:
            # of another thread of the script; those of torch itself, one a device, do not count
            if gradient.is_cpu and get_ident() != deep.thread:
                return
            with gradients.aside():
                fingerprint, _ = gradients.prints.read(gradient)
                for path in reversed(self.paths):
                    deep.seen("outgrad", path, out=(("0", fingerprint),))
        except Exception as error:
            deep.recorder.problem("the gradient of an output", error)


class _Weight:
    """The hook of a weight, called when the backward pass has added to its gradient."""

    __slots__ = ("__weakref__", "gradients", "name")

    def __init__(self, gradients: Gradients, name: str) -> None:
        self.gradients, self.name = gradients, name

    def __call__(self, weight: Any, returned: Any = None) -> None:
        """Record a gradient that was added to the weight, or `returned` for it."""
        gradients = self.gradients
        deep, prints = gradients.deep, gradients.prints
        if deep.hooks.gone:
            # autograd goes through a copy of the hooks, so one may leave meanwhile
            gradients.unwatch_weight(weight)
            return
        try:
            gradient = weight.grad if returned is None else returned
            if gradient is None or deep.rests:
                return
            # as in `_Output`
            if gradient.is_cpu and get_ident() != deep.thread:
                return
            with gradients.aside():
                fingerprint, look = prints.read(gradient, True, True)
                deep.seen("gradient", self.name, out=(("", fingerprint),))
                gradients.last[self.name] = look, fingerprint
        except Exception as error:
            deep.recorder.problem("the gradient of a weight", error)

    def __deepcopy__(self, memo: Any) -> "_Weight":
        return self


def _own_hooks(weight: Any) -> List[int]:
    """Return the dictionary keys under which a weight stores the recorder's hooks."""
    # Nothing public says which hooks a weight has; FSDP reads the same dictionary before it runs
    # them for a sharded weight. It is None, and in versions before 2.1 not there, as long as none
    # was registered.
    hooks = getattr(weight, "_post_accumulate_grad_hooks", None) or {}
    return [key for key, hook in hooks.items() if type(hook) is _Weight]
