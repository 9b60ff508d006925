"""A FAKE torch_npu: device `npu` through PrivateUse1, in Python, for tests on machines without an NPU. See the README beside it.

PyTorch imports this package inside its own import, by the entry point `torch.backends`, as it imports the real one.
"""

import os

# The real package does the same: keep torch from loading this module again while this module imports torch.
_AUTOLOAD = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD")
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import torch  # noqa: E402
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend  # noqa: E402

from . import fake, npu, version  # noqa: E402

__fake__ = True
__version__ = version.__version__

_setup_privateuseone_for_python_backend("npu", backend_module=npu)
torch.__future__.set_overwrite_module_params_on_conversion(
    True
)  # these tensors cannot take the place of a CPU tensor in a parameter

from . import _host, _operators  # noqa: E402

_host.install()
_operators.install()


def _autoload() -> None:
    """Called by torch once this module is imported: leave the environment as it was."""
    if _AUTOLOAD is None:
        os.environ.pop("TORCH_DEVICE_BACKEND_AUTOLOAD", None)
    else:
        os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = _AUTOLOAD


_autoload()

__all__ = ["fake", "npu", "version"]
