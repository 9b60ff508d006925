"""The closed lists of facts, packages and settings that leave as they are."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FACTS = _words(
    "platform.system platform.machine platform.kernel platform.libc memory.bytes reprocheck.python"
    " cpu.model cpu.count cpu.usable cpu.affinity driver.nvidia driver.ascend cann.version"
    " python.version python.implementation python.build python.hash_seed python.optimize"
    " python.gil git.commit git.dirty torch.git_version torch.build"
)
"""Facts of the environment that leave as they are."""
FACTS_OF = ("torch.", "torch_npu.", "mindspore.", "tensorflow.", "keras.", "jax.", "numpy.")
"""In front of facts that a framework tells of itself, which leave as they are."""
PACKAGE = "package."
"""In front of the name of a package; its value is a version."""
VARIABLE = "variable."
"""In front of the name of an environment variable: the name leaves, its value does not."""
KNOWN_PACKAGES = _words(
    "torch numpy triton onnx mypy flake8 optree intel mkl nvidia jax mindspore tensorflow keras"
    " flax optax lightning pytorch transformers accelerate scipy pandas scikit-learn xxhash"
)
"""Beginnings of the names of packages that leave in `strict`: those of `collect_env`, and further
frameworks.
"""
SETTINGS_AS_IS = _words("steps timeout workdir keep level control seed color fail_on")
"""Settings whose text is one of a closed list of words; of `fail_on`, where it names no series."""
