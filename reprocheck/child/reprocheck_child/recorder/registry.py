"""Every framework that the recorder knows, one record each.

All that other modules look up by the name of a framework stands here.

Nothing of a framework is imported before the script has imported it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any


class Framework:
    """Describe one framework to the recorder; an entry that does not exist is "".

    Functions are written `module:function`, below this package.

    name         the top-level module; when the script imports it, the framework is hooked
    oldest       the first version that the adapter knows; an older one is left alone
    adapter      `install(module, recorder)`, which hooks the framework and returns the state of
                 each
                 hook
    controls     module with `ACTS`, the controls that act inside the framework
    environment  `facts(module)`, which describes the framework as the process has set it up; with
                 `VERSION`: only its version
    seeding      `seed(setter, module)`, which `reprocheck.seed_all` calls
    """

    __slots__ = ("adapter", "controls", "environment", "name", "oldest", "seeding")

    def __init__(
        self,
        name: str,
        *,
        oldest: tuple[int, ...] = (),
        adapter: str = "",
        controls: str = "",
        environment: str = "",
        seeding: str = "",
    ) -> None:
        self.name = name
        self.oldest = oldest
        self.adapter = adapter
        self.controls = controls
        self.environment = environment
        self.seeding = seeding


VERSION = "version"

FRAMEWORKS = (
    Framework(
        "numpy",
        environment="process.environment:numpy",
        seeding="seed_all:seed_numpy",
    ),
    Framework(
        "torch",
        oldest=(2, 0),
        adapter="frameworks.torch.losses:install",
        controls="frameworks.torch.controls",
        environment="frameworks.torch.environment:torch_facts",
        seeding="frameworks.torch.seeding:seed_torch",
    ),
    Framework(
        "torch_npu",
        environment="frameworks.torch.environment:npu_facts",
        seeding="frameworks.torch.seeding:seed_npu",
    ),
    Framework(
        "mindspore",
        oldest=(2, 2),
        adapter="frameworks.mindspore.losses:install",
        controls="frameworks.mindspore.controls",
        environment="frameworks.mindspore.environment:facts",
        seeding="frameworks.mindspore.seeding:seed",
    ),
    Framework(
        "tensorflow",
        oldest=(2, 16),
        adapter="frameworks.tensorflow.losses:install",
        controls="frameworks.tensorflow.controls",
        environment=VERSION,
        seeding="frameworks.tensorflow.seeding:seed",
    ),
    Framework(
        "keras",
        oldest=(3, 0),
        adapter="frameworks.keras.losses:install",
        controls="frameworks.keras.controls",
        environment=VERSION,
        seeding="frameworks.keras.seeding:seed",
    ),
    Framework(
        "jax",
        oldest=(0, 4, 30),
        adapter="frameworks.jax.losses:install",
        controls="frameworks.jax.controls",
        environment=VERSION,
        seeding="frameworks.jax.seeding:seed",
    ),
    Framework("jaxlib", environment=VERSION),
)
"""In the order of the documents."""


def found(reference: str, package: str = "") -> Any:
    """Return the object that `module:name`, or the module that `module`, names below `package`.

    By default `package` is that of the recorder, `reprocheck_child`.
    """
    from importlib import import_module

    module, _, name = reference.partition(":")
    held = import_module("." + module, package or __package__.partition(".recorder")[0])
    return getattr(held, name) if name else held
