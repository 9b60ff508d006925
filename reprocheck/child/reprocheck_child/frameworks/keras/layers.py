"""Records eager calls of layers and losses of Keras.

In a function that is being traced, only the layer's name is noted.
"""

import threading
from typing import Any, List, Tuple

from ...deep_levels.leaves import below
from ...host.fingerprint import flat
from ...recorder.hooking import guarded, replace


class _Stack(threading.local):
    def __init__(self) -> None:
        self.calls: List[Tuple[str, str]] = []
        self.losses = 0
        self.building = 0


class Layers:
    """The hooks of `Layer.__call__` and `Loss.__call__`."""

    def __init__(self, watcher: Any) -> None:
        self.watcher = watcher
        self.facts = watcher.facts
        self.deep = watcher.deep
        self.stack = _Stack()

    def hook(self) -> None:
        """Set hooks on each call of a layer, also to know in which layer a draw happens."""
        from keras.src.backend.common.symbolic_scope import in_symbolic_scope
        from keras.src.layers.layer import Layer

        if self.watcher.graphs is not None:
            self.watcher.graphs.where = lambda: self.stack.calls[-1] if self.stack.calls else None
        stack = self.stack

        def recording(real: Any) -> Any:
            def __call__(layer: Any, *args: Any, **named: Any) -> Any:  # noqa: N807
                if in_symbolic_scope():
                    return real(layer, *args, **named)
                depth = len(stack.calls)
                before = self._enter(layer, args, named)
                try:
                    out = real(layer, *args, **named)
                    if before is not None:
                        self._leave(layer, args, named, out, before)
                finally:
                    del stack.calls[depth:]
                return out

            return __call__

        replace(Layer, "__call__", recording)

    def hook_building(self) -> None:
        """Stop the adapter of PyTorch from recording layer calls that only find out shapes.

        Keras makes such calls while it builds a model; they compute no training value.
        """
        from keras.src.backend import KerasTensor
        from keras.src.backend.common.symbolic_scope import in_symbolic_scope
        from keras.src.layers.layer import Layer

        stack, elsewhere = self.stack, self.deep.elsewhere

        def counting(real: Any) -> Any:
            def __call__(layer: Any, *args: Any, **named: Any) -> Any:  # noqa: N807
                symbolic = in_symbolic_scope() or any(
                    isinstance(leaf, KerasTensor) for leaf in flat([args, named])
                )
                stack.building += symbolic
                try:
                    return real(layer, *args, **named)
                finally:
                    stack.building -= symbolic

            return __call__

        replace(Layer, "__call__", counting)
        self.deep.elsewhere = lambda: bool(stack.building) or elsewhere()
        self.deep.named = self._named

    def _named(self, holder: Any, attribute: str) -> str:
        """Return the path of a layer, or of the weight `attribute` in a layer's `ParameterDict`.

        On the PyTorch backend each layer keeps its weights in such a dictionary.
        """
        if not attribute:
            is_layer = isinstance(holder, self.watcher.keras.Layer)
            return str(holder.name) if is_layer else ""
        if type(holder).__name__ != "ParameterDict" or "/" not in attribute:
            return ""
        return str(self.facts.dotted(attribute))

    @guarded("before a layer")
    def _enter(self, layer: Any, args: Any, named: Any) -> Any:
        """Return generator states before the call of a layer; None if the call is not recorded."""
        calls = self.stack.calls
        path = self._path(layer)
        calls.append((path, type(layer).__name__))
        if self.deep.elsewhere() or not self._eager(args, named):
            return None
        if len(calls) == 1:
            self.watcher.register(layer, path)
            if getattr(layer, "built", False):
                self.facts.begin(layer.weights)
            if not self.deep.loaders and not self.watcher.training() and layer.weights:
                given = [
                    argument for argument in (*args, *named.values()) if hasattr(argument, "shape")
                ]
                if given:
                    self.facts.batch("inputs of " + type(layer).__name__, given)
        return self.deep.states()

    def _path(self, layer: Any) -> str:
        """Return the path of a layer: layer names from the outermost layer inwards.

        A model that the script calls has the name of a root.
        """
        calls = self.stack.calls
        if calls:
            return below(calls[-1][0], layer.name)
        if isinstance(layer, self.watcher.keras.Model):
            return str(self.facts.root(layer.name))
        return str(layer.name)

    def _eager(self, args: Any, named: Any) -> bool:
        graphs = self.watcher.graphs
        if graphs is not None and not graphs.tensorflow.executing_eagerly():
            return False
        return bool(self.watcher.concrete([args, named]))

    @guarded("after a layer")
    def _leave(self, layer: Any, args: Any, named: Any, out: Any, before: Any) -> None:
        path, kind = self.stack.calls[-1]
        moved = self.deep.moved(before)
        # what has drawn here has not drawn inside a compiled function
        for name in moved.get("g2", ()):
            if name in self.watcher.private:
                self.watcher.known[name] = self.watcher.state(self.watcher.private[name])
        prints = self.facts.prints
        self.deep.seen(
            "call",
            path,
            k=kind,
            **{"in": prints.arguments(args, named), "out": prints.leaves(out)},
            **moved,
        )

    def hook_losses(self) -> None:
        """Set hooks on each call of a loss; only the outermost counts."""
        from keras.src.losses.loss import Loss

        stack = self.stack

        def outermost(real: Any) -> Any:
            def __call__(loss: Any, y_true: Any, y_pred: Any, *args: Any, **named: Any) -> Any:  # noqa: N807
                stack.losses += 1
                try:
                    out = real(loss, y_true, y_pred, *args, **named)
                finally:
                    stack.losses -= 1
                if not stack.losses:
                    self._loss(loss, y_true, y_pred, out)
                return out

            return __call__

        replace(Loss, "__call__", outermost)

    @guarded("a loss")
    def _loss(self, loss: Any, y_true: Any, y_pred: Any, out: Any) -> None:
        if self._eager([y_true, y_pred, out], {}) and not self.deep.elsewhere():
            prints, kind = self.facts.prints, type(loss).__name__
            given = prints.leaves({"y_true": y_true, "y_pred": y_pred})
            self.deep.seen("call", kind, k=kind, **{"in": given, "out": prints.leaves(out)})
