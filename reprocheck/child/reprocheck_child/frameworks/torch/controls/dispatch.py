"""Replaces kernels of torch's dispatcher by functions of Python.

So callers in C++, TorchScript and `torch.ops` are reached too.
"""

import warnings
from typing import Any, Callable, Optional

DEVICES = ("CUDA", "PrivateUse1", "XPU", "MPS")
"""Dispatch keys of accelerators; PrivateUse1 is that of torch_npu."""


_libraries: "list[Any]" = []  # one that is collected takes its kernels back


class Kernels:
    """The replaced kernels of `aten`.

    The original kernels come back when the interpreter ends.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self._library = torch.library.Library("aten", "IMPL")
        _libraries.append(self._library)

    def original(self, operator: str, key: str) -> Optional[Callable[..., Any]]:
        """Return the kernel that runs for `operator` on the dispatch key `key` now.

        None if there is no such kernel, or this version of torch does not expose it.
        """
        find = getattr(self.torch.library, "get_kernel", None)
        if find is None:
            return None
        try:
            kernel = find("aten::" + operator, key)
        except Exception:
            return None
        # A kernel is called with the set of keys that it was found for. `call_boxed` takes any
        # arguments; the sets of keys have no public name.
        keys = self.torch._C.DispatchKeySet(getattr(self.torch._C.DispatchKey, key))
        call = kernel.call_boxed
        return lambda *args, **kwargs: call(keys, *args, **kwargs)

    def replace(self, operator: str, key: str, function: Callable[..., Any]) -> None:
        """Run the Python function `function` for `operator` on the dispatch key `key`.

        Raises RuntimeError or TypeError if torch refuses.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a kernel is overridden: on purpose
            try:
                self._library.impl(operator, function, key, allow_override=True)
            except TypeError:  # versions without the argument override as they are told
                self._library.impl(operator, function, key)


def accelerators(torch: Any) -> "tuple[str, ...]":
    """Return dispatch keys of torch's own accelerators and of backends plugged into torch."""
    # Whether a device is there must not be asked: that may start its driver, after which a process
    # cannot fork any more. `_has_xpu` is what `torch.xpu` itself reads; the name of the backend
    # that plugged in is set by `torch.utils.rename_privateuse1_backend`, and only private functions
    # read it.
    built = {
        "CUDA": torch.backends.cuda.is_built(),
        "MPS": torch.backends.mps.is_built(),
        "XPU": getattr(torch._C, "_has_xpu", False),
        "PrivateUse1": torch._C._get_privateuse1_backend_name() != "privateuseone",
    }
    return tuple(key for key, there in built.items() if there)
