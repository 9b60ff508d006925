"""Backward passes and updates: what lies between the modules and the loss, gradients in the order
in which they come, then weights.
"""

import weakref
from _thread import get_ident
from typing import Any, Dict, Iterator, List, Set, Tuple

from ...scope import variable
from ...shared.iterations import BACKWARD
from .weights import graph_leaves
from .written import Written

NODES = 200
"""Autograd nodes looked at between the loss and the outputs of modules."""
LEAVES = 20_000
"""Autograd nodes looked at for weights that belong to no module and no optimizer."""
_OUTPUTS = 100_000
_SAVED = "_raw_saved_"


class Gradients:
    """Records from the loss to the update."""

    def __init__(self, torch: Any, deep: Any, names: Any, adapter: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.prints = deep.fingerprints
        self.names = names
        self.adapter = adapter
        self.aside = torch._C.DisableTorchFunction
        # (number of an autograd node, its output) -> the hook there
        self.outputs: Dict[Tuple[int, int], _Output] = {}
        self.recorded: Set[int] = set()  # numbers of these nodes; a thread gives each number once
        self.frozen: Dict[int, str] = {}  # id of a named weight that needed no gradient -> its name
        # new optimizers: a reference, names of their tensors, the line
        self.built: List[Tuple[Any, Dict[int, str], str]] = []
        # weights without module and optimizer: the leaves of the last graph
        self.bare: List[Any] = []
        self.saved: Dict[Any, List[str]] = {}  # class of an autograd node -> what it saves
        # weight -> how its gradient looked when it was recorded last, its fingerprint
        self.last: Dict[str, Tuple[Any, Any]] = {}
        # whether weights may have been written to by hand since they were recorded
        self.after_update = False
        self.written = Written(deep, names)

    # --------------------------------------------------------------------------- outputs of modules

    def watch_output(self, tensor: Any, path: str) -> None:
        """Record the gradient of a module's output, by a hook of the autograd node behind it: one
        of the tensor would show.
        """
        node = tensor.grad_fn
        if node is None:
            return
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
        node.register_prehook(hook)

    def output_gradient(self, paths: List[str], gradient: Any) -> None:
        """The gradient of the output that the modules at `paths` (innermost first) returned."""
        try:
            if self._elsewhere(gradient):
                return
            with self.aside():
                out = [["0", self.prints.later(gradient, True)]]
                for path in reversed(paths):
                    self.deep.seen("outgrad", path, out=out)
        except Exception as error:
            self.deep.recorder.problem("the gradient of an output", error)

    # ------------------------------------------------------------------------- gradients of weights

    def watch_weight(self, weight: Any, name: str) -> None:
        """Record the gradient of a named weight each time something was added to it."""
        if not weight.requires_grad:
            self.frozen[id(weight)] = name
        elif weight.is_leaf and not any(
            type(hook) is _Weight for hook in (weight._post_accumulate_grad_hooks or {}).values()
        ):
            weight.register_post_accumulate_grad_hook(_Weight(self, name))

    def unwatch_weight(self, weight: Any) -> bool:
        """Take the hook of a weight away; returns whether it had one."""
        hooks = getattr(weight, "_post_accumulate_grad_hooks", None) or {}
        ours = [key for key, hook in hooks.items() if type(hook) is _Weight]
        for key in ours:
            del hooks[key]
        return bool(ours)

    def watch_thawed(self) -> None:
        """Weights that needed no gradient before may need one now."""
        for identity, name in list(self.frozen.items()):
            weight = self.names.parameter(identity)
            if weight is None or weight.requires_grad:
                del self.frozen[identity]
                if weight is not None:
                    self.watch_weight(weight, name)

    def weight_gradient(self, name: str, gradient: Any) -> None:
        """Something was added to the gradient of a weight, or it was returned to the script."""
        try:
            if gradient is not None and not self._elsewhere(gradient):
                with self.aside():
                    found = self.prints.later(gradient, True)
                    self.deep.seen("gradient", name, out=[["", found]])
                    self.last[name] = (self.prints.look(gradient), found)
        except Exception as error:
            self.deep.recorder.problem("the gradient of a weight", error)

    def _elsewhere(self, gradient: Any) -> bool:
        """Whether another thread of the script computes this gradient.

        Those of a device come from a thread of torch, one a device.
        """
        return gradient.is_cpu and get_ident() != self.deep.thread

    # ------------------------------------------------------------------------------------- the loss

    def before_backward(self, roots: Any, kind: str) -> None:
        """A backward pass is about to start from `roots`."""
        if self.deep.elsewhere():
            return
        self.deep.loss_first = True
        self.names.fills.end()
        with self.aside():
            self._name_weights()
            self.written.look()
            if not self.adapter.optimized:
                self._name_leaves(roots)
                self.after_update = True
            self.deep.seen("rng", "before backward", g=self.deep.rng())
            for place, saved in self._between(roots):
                self.deep.seen("between", place, **{"in": saved})
            for root in roots:
                self.deep.seen(
                    "root",
                    "loss" if kind == BACKWARD else "autograd.grad",
                    out=[["", self.prints.later(root)]],
                )

    def returned(self, inputs: Any, gradients: Any) -> None:
        """`autograd.grad` has returned the gradients of `inputs`: no hook of a weight is called for
        them.
        """
        if isinstance(inputs, self.torch.Tensor):
            inputs = (inputs,)
        for weight, gradient in zip(inputs or (), gradients or ()):
            name = self.names.name(weight) if isinstance(weight, self.torch.Tensor) else ""
            if name:
                self.weight_gradient(name, gradient)

    def _between(self, roots: Any) -> List[Tuple[str, List[Any]]]:
        """The nodes between the roots and the outputs of modules, in the order in which they ran,
        with what they saved.
        """
        recorded = self.recorded
        nodes, found = [root.grad_fn for root in roots if root.grad_fn is not None], []
        known = set(nodes)
        while nodes:
            node = nodes.pop(0)
            if node._sequence_nr() in recorded or hasattr(node, "variable"):
                continue
            found.append(node)
            if len(known) >= NODES:
                self.deep.unrecorded(
                    "between", "more than %d operations between the modules and the loss" % NODES
                )
                break
            for follower, _ in node.next_functions:
                if follower is not None and follower not in known:
                    known.add(follower)
                    nodes.append(follower)
        found.sort(key=lambda node: node._sequence_nr())
        return [(node.name(), self._saved(node)) for node in found]

    def _saved(self, node: Any) -> List[Any]:
        """Fingerprints of what an autograd node has saved.

        What a script's own hooks packed is not unpacked: that may run a forward.
        """
        found: List[Any] = []
        names = self.saved.get(type(node))
        if names is None:
            names = [name[len(_SAVED) :] for name in dir(node) if name.startswith(_SAVED)]
            self.saved[type(node)] = names
        for name in names:
            try:
                raw = getattr(node, _SAVED + name)
                for one in raw if isinstance(raw, (list, tuple)) else [raw]:
                    if getattr(one, "unpack_hook", self) is not None:
                        self.deep.unrecorded(
                            "saved tensors of " + node.name(),
                            "packed by a hook of the script, or of an unknown kind",
                        )
                        return found
                saved = node.saved_tensors if name == "tensors" else getattr(node, "_saved_" + name)
                values = saved if isinstance(saved, (list, tuple)) else [saved]
                for index, value in enumerate(values):
                    if isinstance(value, self.torch.Tensor):
                        found.append(
                            [
                                "%s.%d" % (name, index) if len(values) > 1 else name,
                                self.prints.later(value),
                            ]
                        )
            except RuntimeError:  # freed by a backward pass before, or written to since
                continue
        return found

    # --------------------------------------------------------------------- weights without a module

    def optimizer_built(self, optimizer: Any) -> None:
        """Remember the variables of the script that hold the tensors of a new optimizer."""
        frame = self.deep.frame(2)
        self.built.append(
            (weakref.ref(optimizer), self.names.optimized(optimizer, frame), self.deep.source(2))
        )

    def record_weights(self, root: Any) -> None:
        """Record the parameters and buffers of a module that were not recorded yet."""
        for weight in self.names.new_weights(root):
            keys = {"b": True, **weight.made} if weight.buffer else weight.made
            self.deep.seen(
                "weights",
                weight.name,
                call=False,
                out=[["", self.prints.later(weight.tensor)]],
                **keys,
            )
            if not weight.buffer:
                self.watch_weight(weight.tensor, weight.name)

    def _name_weights(self) -> None:
        """Record the weights of new optimizers: of modules that were not called yet, and tensors
        that no module holds.
        """
        built, self.built = self.built, []
        for reference, variables, line in built:
            optimizer = reference()
            for root, given in (
                self.names.roots(optimizer, variables) if optimizer is not None else ()
            ):
                self.names.adopt(root, self.deep.frame(0), given)
                self.record_weights(root)
            for number, group in enumerate(optimizer.param_groups if optimizer is not None else ()):
                for index, tensor in enumerate(group["params"]):
                    if not self.names.name(tensor):
                        name = variables.get(id(tensor)) or "param_groups[%d].params[%d]" % (
                            number,
                            index,
                        )
                        self._record(tensor, self.names.name_bare(tensor, optimizer, name), line)

    def _name_leaves(self, roots: Any) -> None:
        """Name the leaves of a graph that no optimizer and no module holds; record new ones, and
        the others as updated by hand.
        """
        leaves = [
            leaf
            for leaf in graph_leaves(roots, self.torch.Tensor, LEAVES)
            if not self.names.name(leaf)
        ]
        if not leaves:
            return
        before = {id(leaf): name for leaf, name in self.bare}
        taken = set(before.values())
        frame = self.deep.frame(0)
        self.bare, old = [], self.bare
        for index, leaf in enumerate(leaves):
            name = before.get(id(leaf)) or variable(frame, leaf) or "leaf[%d]" % index
            if name in taken:
                self.deep.seen("update", name, out=[["", self.prints.later(leaf)]])
            else:
                self._record(leaf, name, "")
            if id(leaf) not in before:
                self.watch_weight(leaf, name)
            self.bare.append((leaf, name))
        del old

    def _record(self, tensor: Any, name: str, line: str) -> None:
        self.deep.seen(
            "weights",
            name,
            call=False,
            out=[["", self.prints.later(tensor)]],
            **({"l": line} if line else {}),
        )
        self.watch_weight(tensor, name)

    # -------------------------------------------------------------------------------------- updates

    def record_by_hand(self) -> None:
        """Before a forward: weights that changed since their update; all, where no optimizer says
        when and a backward pass has been.
        """
        self.written.look()
        if self.after_update and not self.adapter.optimized:
            self.after_update = False
            for identity, (_, _, name) in list(self.names.weights.items()):
                weight = self.names.parameter(identity)
                if weight is not None and weight.requires_grad:
                    self.deep.seen("update", name, out=[["", self.prints.later(weight)]])

    def before_step(self, optimizer: Any, index: int, closure: bool) -> None:
        """An optimizer is about to step; with a closure, its gradients are not there yet."""
        with self.aside():
            self._name_weights()
            place = "%s[%d]" % (type(optimizer).__name__, index)
            leaves = [
                leaf for prefix, group in _groups(optimizer) for leaf in self._hyper(prefix, group)
            ]
            self.deep.seen("hyper", place, o=index, out=leaves)
            if not closure:
                self._reduced(optimizer, index)

    def after_step(self, optimizer: Any, index: int, closure: bool) -> None:
        """An optimizer has stepped."""
        with self.aside():
            if closure:
                self._reduced(optimizer, index)
            for name, tensor in self.names.optimizer_weights(optimizer):
                self.deep.seen("update", name, o=index, out=[["", self.prints.later(tensor, True)]])
                for key, value in list(optimizer.state.get(tensor, {}).items()):
                    self.deep.seen(
                        "update", "%s:%s" % (name, key), o=index, out=self.prints.state(value)
                    )
            self.deep.seen("rng", "after update", g=self.deep.rng())
            self.written.updated(optimizer)

    def _reduced(self, optimizer: Any, index: int) -> None:
        last, self.last = self.last, {}
        again: List[Tuple[str, Any]] = []
        for name, tensor in self.names.optimizer_weights(optimizer):
            if tensor.grad is None:
                continue
            before, known = last.get(name, (None, None))
            found = (
                known
                if before is not None and before == self.prints.look(tensor.grad)
                else self.prints.later(tensor.grad)
            )
            if found is known:
                again.append((name, known))
                continue
            if again:
                self.deep.seen_again("reduced", again, o=index)
                again = []
            self.deep.seen("reduced", name, o=index, out=[["", found]])
        if again:
            self.deep.seen_again("reduced", again, o=index)

    def _hyper(self, prefix: str, group: Any) -> List[Any]:
        """The values of a group, and, where there are several, which weights it holds."""
        values = {key: value for key, value in group.items() if key != "params"}
        if prefix:
            values["params"] = ", ".join(
                [self.names.name(tensor) or "?" for tensor in group["params"]]
            )
        return [[prefix + path, value] for path, value in self.prints.leaves(values)]


class _Output:
    """Hook of the autograd node behind an output; `paths` are the modules that returned it, the
    innermost first.
    """

    __slots__ = ("__weakref__", "gradients", "index", "paths")

    def __init__(self, gradients: Gradients, path: str, index: int) -> None:
        self.gradients, self.paths, self.index = gradients, [path], index

    def __call__(self, outputs: Any) -> None:
        gradient = outputs[self.index]
        if gradient is not None:
            self.gradients.output_gradient(self.paths, gradient)


class _Weight:
    """Hook of a weight, called when its gradient has changed."""

    __slots__ = ("__weakref__", "gradients", "name")

    def __init__(self, gradients: Gradients, name: str) -> None:
        self.gradients, self.name = gradients, name

    def __call__(self, weight: Any) -> None:
        self.gradients.weight_gradient(self.name, weight.grad)

    def __deepcopy__(self, memo: Any) -> "_Weight":
        return self


def _groups(optimizer: Any) -> Iterator[Tuple[str, Any]]:
    for number, group in enumerate(optimizer.param_groups):
        yield "" if len(optimizer.param_groups) == 1 else "param_groups[%d]." % number, group
