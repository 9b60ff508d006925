"""Leave out optional packages that frameworks import only because they find them installed.

Half of a start of TensorFlow is scikit-learn, JAX, matplotlib and pandas. In the environments of
the tests (`.ci/install`) the modules named here do not find them. Everybody else does.
"""

import sys

LEFT_OUT = {
    "IPython": ("keras.",),
    "jax": ("keras.src.callbacks.", "tensorflow.lite."),
    "matplotlib": ("keras.",),
    "pandas": ("keras.", "tensorflow."),
    "scipy": ("tensorflow.",),
    "sklearn": ("keras.",),
}
"""Optional package -> how the names of the modules begin that import it and work without it."""

BETWEEN = ("importlib.", "reprocheck_child.recorder.import_hook")
"""What asks a finder on behalf of a module."""


class LeanImports:
    """Comes before the finders of Python."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Raise `ModuleNotFoundError` where the module that imports `name` works without it."""
        if name not in LEFT_OUT:
            return
        frame = sys._getframe(1)
        while _module(frame).startswith(BETWEEN):
            frame = frame.f_back
        if _module(frame).startswith(LEFT_OUT[name]):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _module(frame):
    return frame.f_globals.get("__name__", "")


sys.meta_path.insert(0, LeanImports)
