"""The control `dropout-off` for modules that people write themselves.

A module whose class is named for dropout returns its input if that is safe: the module has no
parameters, takes one tensor, and returns a tensor of the same shape and dtype. Another such class
is left as it is, and named in the report.
"""

import re
from typing import Any, Dict, Tuple

from ....recorder.hooking import guarded
from .dropout import in_place_of

NAMED = re.compile(r"drop_?out|drop_?path|drop_?block|stochastic_?depth", re.I)
_NOT_DROPPED = re.compile(r"no_?drop|config", re.I)


def hand_written_dropout(torch: Any, active: Any) -> None:
    """Change dropout classes when they are defined, and those that a backend defined before."""
    module, wrap = torch.nn.Module, _Classes(torch, active).wrap

    def named(owner: Any) -> bool:
        return bool(NAMED.search(owner.__name__)) and not _NOT_DROPPED.search(owner.__name__)

    def __init_subclass__(owner: Any, /, **kwargs: Any) -> None:  # noqa: N807
        super(module, owner).__init_subclass__(**kwargs)
        if named(owner):
            wrap(owner)

    known = [module]
    for owner in known:
        known += owner.__subclasses__()
        if named(owner):
            wrap(owner)
    module.__init_subclass__ = classmethod(__init_subclass__)


class _Classes:
    def __init__(self, torch: Any, active: Any) -> None:
        self.torch = torch
        self.active = active
        self.safe: Dict[Tuple[Any, ...], bool] = {}

    def wrap(self, owner: Any) -> None:
        """Replace `forward` of a class by the identity for calls where the identity is safe."""
        real = vars(owner).get("forward")
        package = str(owner.__module__).partition(".")[0]
        # a function of Python has globals, which `in_place_of` needs
        if package == "torch" or not hasattr(real, "__globals__"):
            return
        identity, compiling = self.identity, getattr(self.torch.compiler, "is_compiling", bool)

        def forward(module: Any, *args: Any, **kwargs: Any) -> Any:
            drops = module.training and not compiling()
            if drops and identity(module, real, args, kwargs):
                return args[0]
            return real(module, *args, **kwargs)

        owner.forward = in_place_of(forward, real)

    @guarded("controls: dropout-off", otherwise=False)
    def identity(self, module: Any, real: Any, args: Any, kwargs: Any) -> bool:
        """Return whether a dropout module may return its input in this call.

        The first call of each class, shape and dtype runs on a copy, to compare the shape of its
        result.
        """
        name = type(module).__qualname__
        if len(args) != 1 or kwargs or not isinstance(args[0], self.torch.Tensor):
            return self._left(name, "it is called with more than one tensor")
        if next(iter(module.parameters()), None) is not None:
            return self._left(name, "it has parameters")
        key = (type(module), args[0].shape, args[0].dtype)
        if key not in self.safe:
            self.safe[key] = self._same(module, real, args[0])
        if not self.safe[key]:
            return self._left(name, "what it returns is not shaped as what it is given")
        self.active.touched("dropout-off", name + ".forward")
        return True

    def _same(self, module: Any, real: Any, value: Any) -> bool:
        with self.torch.no_grad():
            output = real(module, value.detach().clone())
        if not isinstance(output, self.torch.Tensor):
            return False
        return (output.shape, output.dtype) == (value.shape, value.dtype)

    def _left(self, name: str, why: str) -> bool:
        self.active.unavailable("dropout-off", "the module %s: %s" % (name, why))
        return False
