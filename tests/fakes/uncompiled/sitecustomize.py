"""A PyTorch that imports its compiler only for what compiles.

The first optimizer of a script imports `torch._dynamo`, to say that it shall not be compiled. That
takes nearly as long as PyTorch itself. For a script that compiles nothing, what is called there does
nothing in either case (PyTorch 2.13, torch/_compile.py and torch/optim/optimizer.py). Whatever asks
for more gets the real module.
"""

import copy
import importlib
import sys
import types

NAME = "torch._dynamo"


class Compiler(types.ModuleType):
    """Stands for the module until somebody asks for more than it has."""

    __path__ = ()

    @staticmethod
    def disable(function, recursive=True, wrapping=True):
        return function

    @staticmethod
    def graph_break():
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(real(), name)


class Parts:
    """Lets the real module in where one of its parts is imported, or the package that begins with it."""

    def find_spec(self, name, path=None, target=None):
        if sys.modules.get(NAME) is not compiler:
            return None
        if name == "torch._inductor":
            del sys.modules[NAME]
        if name.startswith(NAME + "."):
            return self._imported_before(name)
        return None

    def _imported_before(self, name):
        """The import system has the other module as the parent, and asks for its part alone."""
        real()
        module = importlib.import_module(name)
        spec = copy.copy(module.__spec__)
        spec.loader, spec.loader_state = self, module
        return spec

    def create_module(self, spec):
        return spec.loader_state

    def exec_module(self, module):
        module.__spec__ = copy.copy(module.__spec__)
        module.__spec__.loader, module.__spec__.loader_state = module.__loader__, None


def real():
    """Import the module that the other one stands for."""
    if sys.modules.get(NAME) is compiler:
        del sys.modules[NAME]
    return importlib.import_module(NAME)


compiler = Compiler(NAME)
sys.modules[NAME] = compiler
sys.meta_path.insert(0, Parts())
