"""One name for each thing of a library, whatever the path by which it was imported, and what star
imports bring.
"""

from __future__ import annotations

import builtins
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("__")) | {
    "unicode",
    "xrange",
    "raw_input",
    "basestring",
}

FRAMEWORKS = ("torch", "torch_npu", "mindspore", "tensorflow", "keras", "jax", "numpy")

KNOWN_PACKAGES = frozenset(sys.stdlib_module_names) | {
    *FRAMEWORKS,
    *(
        "flax",
        "optax",
        "haiku",
        "torchvision",
        "torchaudio",
        "torchtext",
        "lightning",
        "pytorch_lightning",
        "lightning_fabric",
        "accelerate",
    ),
    *(
        "transformers",
        "datasets",
        "sklearn",
        "scipy",
        "pandas",
        "albumentations",
        "cv2",
        "PIL",
        "gym",
        "gymnasium",
        "xgboost",
        "lightgbm",
    ),
    *(
        "ray",
        "optuna",
        "wandb",
        "tqdm",
        "timm",
        "deepspeed",
        "apex",
        "ignite",
        "fastai",
        "torch_geometric",
        "dgl",
        "webdataset",
        "mindformers",
    ),
    *(
        "stable_baselines3",
        "catboost",
        "imgaug",
        "kornia",
        "monai",
        "nltk",
        "gensim",
        "spacy",
        "tensorflow_datasets",
        "tensorflow_probability",
    ),
    *(
        "hydra",
        "omegaconf",
        "yaml",
        "requests",
        "matplotlib",
        "seaborn",
        "joblib",
        "dask",
        "msprobe",
        "reprocheck",
        "pytest",
    ),
}
"""Packages that an import means even where a folder of that name lies beside the script."""

_PREFIXES = {
    "tensorflow.keras": "keras",
    "tensorflow.compat.v2": "tensorflow",
    "tensorflow.compat.v1.keras": "keras",
    "tensorflow.random.experimental": "tensorflow.random",
    "keras.api": "keras",
    "keras.src": "keras",
    "pytorch_lightning": "lightning.pytorch",
    "lightning_fabric": "lightning.fabric",
    "torch.random": "torch",
    "torch.cuda.random": "torch.cuda",
    "torch.npu.random": "torch.npu",
    "torch.functional": "torch",
    "torch._C._nn": "torch.nn.functional",
    "torch_npu.npu": "torch.npu",
    "torch.utils.data.dataloader": "torch.utils.data",
    "torch.utils.data.dataset": "torch.utils.data",
    "torch.utils.data.sampler": "torch.utils.data",
    "torch.utils.data.distributed": "torch.utils.data",
    "torch.nn.parallel.distributed": "torch.nn.parallel",
    "torch.nn.parameter": "torch.nn",
    "torchvision.transforms.transforms": "torchvision.transforms",
    "torchvision.transforms.v2": "torchvision.transforms",
    "numpy.random.mtrand": "numpy.random",
    "numpy.random._generator": "numpy.random",
    "mindspore.common.seed": "mindspore",
    "mindspore.common.tensor": "mindspore",
    "mindspore.common.parameter": "mindspore",
    "mindspore.common": "mindspore",
    "mindspore.context": "mindspore",
    "mindspore.ops.operations": "mindspore.ops",
    "mindspore.ops.function": "mindspore.ops",
    "mindspore.ops.functional": "mindspore.ops",
    "mindspore.ops.composite": "mindspore.ops",
    "mindspore.dataset.engine": "mindspore.dataset",
    "mindspore.dataset.core.config": "mindspore.dataset.config",
    "mindspore.dataset.vision.c_transforms": "mindspore.dataset.vision",
    "mindspore.dataset.vision.py_transforms": "mindspore.dataset.vision",
    "mindspore.dataset.vision.transforms": "mindspore.dataset.vision",
    "mindspore.dataset.transforms.c_transforms": "mindspore.dataset.transforms",
    "mindspore.dataset.transforms.py_transforms": "mindspore.dataset.transforms",
    "jax._src": "jax",
    "posix": "os",
    "posixpath": "os.path",
}
_INNER = (
    (re.compile(r"^torch\.nn\.modules\.(?:[a-z_0-9]+\.)?(\w+)"), r"torch.nn.\1"),
    (re.compile(r"^torch\.optim\.[a-z_0-9]+\.([A-Z]\w*)"), r"torch.optim.\1"),
    (
        re.compile(
            r"^mindspore\.nn\.(?:layer|optim|loss|cell|wrap|probability)(?:\.[a-z_0-9]+)?\.([A-Z]\w*)"
        ),
        r"mindspore.nn.\1",
    ),
    (
        re.compile(r"^mindspore\.dataset\.datasets(?:_[a-z_]+)?\.([A-Z]\w*)"),
        r"mindspore.dataset.\1",
    ),
    (
        re.compile(
            r"^lightning\.(Trainer|LightningModule|LightningDataModule|Callback|seed_everything)\b"
        ),
        r"lightning.pytorch.\1",
    ),
    (re.compile(r"^lightning\.pytorch\.utilities\.seed\.(\w+)"), r"lightning.pytorch.\1"),
    (
        re.compile(r"^lightning\.fabric\.utilities\.seed\.seed_everything"),
        "lightning.pytorch.seed_everything",
    ),
    (
        re.compile(
            r"^transformers\.(?:trainer_utils|trainer|training_args|training_args_seq2seq|trainer_seq2seq)\.([A-Za-z]\w*)"
        ),
        r"transformers.\1",
    ),
    (re.compile(r"^torch\.fork_rng\b"), "torch.random.fork_rng"),
    (re.compile(r"^sklearn\.(\w+)\._\w+\.(\w+)"), r"sklearn.\1.\2"),
    (re.compile(r"^keras\.(?:utils\.rng_utils|utils\.np_utils)\."), "keras.utils."),
    (re.compile(r"^keras\.layers\.[a-z_0-9.]+\.([A-Z]\w*)"), r"keras.layers.\1"),
    (re.compile(r"^accelerate\.utils\.random\.(\w+)"), r"accelerate.utils.\1"),
)

_STARS = {
    package: frozenset(names.split())
    for package, names in tomllib.loads(
        Path(__file__).with_name("stars.toml").read_text(encoding="utf-8")
    ).items()
}
_CAPITALS = (
    "torch.nn",
    "mindspore.nn",
    "mindspore.dataset",
    "mindspore.dataset.vision",
    "keras.layers",
    "torch.utils.data",
    "torchvision.transforms",
    "torch.optim",
)
_FUNCTIONS = (
    "torch.nn.functional",
    "mindspore.ops",
    "mindspore",
    "torchvision.transforms.functional",
)


@lru_cache(maxsize=20_000)
def canonical(name: str) -> str:
    """The name by which a thing of a library is known to the rules."""
    for _ in range(3):
        before = name
        parts = name.split(".")
        for count in range(min(len(parts), 5), 0, -1):
            prefix = ".".join(parts[:count])
            if prefix in _PREFIXES:
                rest = parts[count:]
                name = ".".join([_PREFIXES[prefix], *rest])
                break
        for pattern, replacement in _INNER:
            name = pattern.sub(replacement, name)
        if name == before:
            break
    return name


def starred(package: str, name: str) -> bool:
    """Whether `from package import *` is known to bring this name."""
    package = canonical(package)
    if name in _STARS.get(package, ()):
        return True
    return package in _CAPITALS and name[:1].isupper()


def may_bring(package: str, name: str) -> bool:
    """Whether a star import may bring this name, where nothing else does: lower-case functions of
    packages that are full of them.
    """
    return canonical(package) in _FUNCTIONS and name not in BUILTINS


def of_library_alone(star: str, name: str) -> str | None:
    """For star imports of which none is of the user's own module."""
    return None


def free_name(
    name: str,
    stars: Sequence[str],
    expand: Callable[[str, str], str | None] = of_library_alone,
) -> str | None:
    """What a name stands for that nothing binds: by the star imports of its module, the last first,
    else a builtin, else what one of them may bring.

    expand    what a star import of the user's own module brings
    """
    for star in reversed(stars):
        own = expand(star, name)
        if own:
            return own
        if starred(star, name):
            return canonical(f"{star}.{name}")
    if name in BUILTINS:
        return f"builtins.{name}"
    for star in reversed(stars):
        if may_bring(star, name):
            return canonical(f"{star}.{name}")
    return None
