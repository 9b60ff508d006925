"""Describes the environment of a training process as flat facts, and finds experiment trackers.

Looks only at what is there: imports no framework, initialises no device, changes no thread count,
draws no random number, opens no socket. Standard library only, Python 3.9 and later.

A fact is about what bears on numbers and randomness. What differs from process to process by nature
is not among the facts: process ids, ports and addresses, run ids of launchers, temporary folders,
times. So two runs' facts can be compared key by key; between the ranks of one run only the keys in
`shared.variables.OF_THE_RANK` may differ.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from functools import cache

from ..recorder import registry
from ..shared import variables

TYPE_CHECKING = False  # importing `typing` would cost 10 ms where no framework has done so
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, Callable

    Fact = tuple[str, object]
    Probe = tuple[str, Callable[[], object]]


_VARIABLE = "variable."
_JSON = (type(None), bool, int, float, str)


def facts(
    modules: Mapping[str, Any] | None = None, mask: Callable[[str], str] | None = None
) -> dict[str, object]:
    """Return the facts about the environment as JSON values under flat keys, sorted by key.

    Keys are such as `python.version`, `package.numpy`, `variable.OMP_NUM_THREADS`.

    `modules` are the modules looked at (default `sys.modules`); a framework that is not among them
    is not touched. `mask` hides home, user and host names in texts (default: those of this
    process). Never raises: what cannot be read is left out.
    """
    loaded = sys.modules if modules is None else modules
    hide = mask or _masker()
    values: dict[str, object] = {}
    for part in (_python, _machine, _packages, _variables):
        values.update(_tolerant(part()))
    for framework in registry.FRAMEWORKS:
        module = loaded.get(framework.name)
        if module is not None and framework.environment:
            values.update(_tolerant(_of_framework(framework, module)))
    shown = {key: value for key, value in sorted(values.items()) if value is not None}
    for key, value in shown.items():
        if isinstance(value, str) and not key.startswith(_VERSIONS):
            shown[key] = hide(value)
    for key, value in shown.items():
        if key.startswith(_VARIABLE):
            shown[key] = variables.shown(key[len(_VARIABLE) :], str(value))
    return shown


def _tolerant(part: Iterator[Fact]) -> Iterator[Fact]:
    with suppress(Exception):  # an environment that cannot be read must never stop a training
        yield from part


def probed(prefix: str, probes: Iterable[Probe]) -> Iterator[Fact]:
    """Yield the facts of each probe that works.

    An interface that this version does not have costs one fact, not the rest.
    """
    for key, probe in probes:
        with suppress(Exception):
            value = probe()
            yield prefix + key, (value if isinstance(value, _JSON) else str(value))


def _masker() -> Callable[[str], str]:
    from ..shared.masking import identity, mask

    names = identity()
    return lambda text: mask(text, *names)


def _python() -> Iterator[Fact]:
    yield "python.version", "{}.{}.{}".format(*sys.version_info[:3])
    yield "python.implementation", sys.implementation.name
    yield "python.build", " ".join(sys.version.split()[1:])
    yield "python.executable", sys.executable
    yield "python.prefix", sys.prefix
    yield "python.hash_seed", _hash_seed()
    yield "python.optimize", sys.flags.optimize
    # Python 3.13 can be built without the lock, and tells so
    has_gil = getattr(sys, "_is_gil_enabled", _yes)
    yield "python.gil", has_gil()


def _yes() -> bool:
    return True


def _hash_seed() -> str:
    """Return the seed that hashes of strings really use in this process.

    It comes from the environment at the start of the process; later changes by the script have no
    effect.
    """
    if not sys.flags.hash_randomization:
        return "0"
    given = started_with().get("PYTHONHASHSEED", "")
    if given.isdigit():
        return given
    return "random"


def started_with() -> Mapping[str, str]:
    """Return the environment variables at the start of this process.

    Later changes by the script are not in the result.
    """
    block = _head("/proc/self/environ", 1 << 20)
    if block is None:
        return os.environ
    pairs = (item.partition("=") for item in block.split("\0"))
    return {name: value for name, sign, value in pairs if sign}


def _machine() -> Iterator[Fact]:
    system = os.uname()
    yield "platform.system", system.sysname
    yield "platform.machine", system.machine
    yield "platform.kernel", system.release
    yield "platform.libc", _libc()
    yield "cpu.model", _cpu_model()
    yield "cpu.count", os.cpu_count()
    if hasattr(os, "sched_getaffinity"):
        cores = os.sched_getaffinity(0)
        yield "cpu.usable", len(cores)
        yield "cpu.affinity", _ranges(sorted(cores))
    yield "driver.nvidia", _first_line("/proc/driver/nvidia/version")
    yield "driver.ascend", _first_line("/usr/local/Ascend/driver/version.info")
    yield "cann.version", _cann_version()


def _first_line(path: str) -> str | None:
    head = _head(path, 400)
    if not head:
        return None
    return head.splitlines()[0].strip()


def _libc() -> str | None:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError, OSError):
        return None


_ARM = ("CPU implementer", "CPU part", "CPU variant")


def _cpu_model() -> str | None:
    # the first core's entry: the whole file takes long on a machine with many
    head = _head("/proc/cpuinfo", 2048)
    if not head:
        return None
    entry = dict(re.findall(r"^([^\t:]+?)\s*: (.*)$", head.split("\n\n")[0], re.MULTILINE))
    if "model name" in entry:
        return str(entry["model name"])
    # an ARM processor has numbers in place of a name
    parts = [f"{key[4:]} {entry[key]}" for key in _ARM if key in entry]
    return ", ".join(parts) or None


_CANN = r"^(?:version|toolkit_installed_version)=\W*([\w.\-]+)"


def _cann_version() -> str | None:
    home = os.environ.get("ASCEND_HOME_PATH")
    if not home:
        return None
    for path in (
        "ascend_toolkit_install.info",
        f"{os.uname().machine}-linux/ascend_toolkit_install.info",
        "version.cfg",
    ):
        text = _head(os.path.join(home, path), 2000) or ""
        match = re.search(_CANN, text, re.MULTILINE)
        if match:
            return match.group(1)
    return None


def _head(path: str, size: int) -> str | None:
    """Return the first bytes of a file as text; None if the file cannot be read.

    The file is read by its descriptor, because a script may have mocked `open`.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(descriptor, size).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _ranges(numbers: list[int]) -> str:
    """Return `0-2,5` for `[0, 1, 2, 5]`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


_VERSIONS = "package."
"""Facts that hold a version and no path."""
_TAG = re.compile(r"-py\d.*$")
_SEPARATORS = re.compile(r"[-_.]+")


def _packages() -> Iterator[Fact]:
    """Return the installed packages; of several copies the first that an import would find."""
    versions: dict[str, str] = {}
    for folder in dict.fromkeys(sys.path):
        for package, version in packages_in(os.path.abspath(folder)):
            versions.setdefault(package, version)
    for package, version in versions.items():
        yield _VERSIONS + package, version


def look_ahead() -> None:
    """Read facts that do not change any more before the first step of the training.

    Reading them takes longer than the first step may take.
    """
    for folder in dict.fromkeys(sys.path):
        packages_in(os.path.abspath(folder))


@cache
def packages_in(folder: str) -> tuple[tuple[str, str], ...]:
    """Return the packages and versions in a folder; None where it cannot be read.

    They are read from the names of their metadata folders: `importlib.metadata` would open every
    file.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    metadata = [name for name in names if name.endswith((".dist-info", ".egg-info"))]
    return tuple(map(_package, metadata))


def _package(metadata: str) -> tuple[str, str]:
    """Return `("scikit-learn", "1.5.0")` for `scikit_learn-1.5.0.dist-info`."""
    package, _, version = metadata.rsplit(".", 1)[0].partition("-")
    version = _TAG.sub("", version)
    return _SEPARATORS.sub("-", package).lower(), version or "installed"


def _variables() -> Iterator[Fact]:
    given = started_with()
    temporary = given.get("TMPDIR")
    for name, value in given.items():
        if temporary and value.startswith(temporary):
            continue  # a cache that a library keeps there, in a folder that each run has anew
        if variables.allowed(name, value):
            yield _VARIABLE + name, value


def numpy(numpy: Any) -> Iterator[Fact]:
    def dependency(kind: str) -> str:
        build = numpy.__config__.CONFIG["Build Dependencies"][kind]
        return f"{build['name']} {build['version']}"

    def features() -> str:
        loaded = sys.modules
        # numpy 2 has renamed `numpy.core`
        umath = (
            loaded.get("numpy._core._multiarray_umath") or loaded["numpy.core._multiarray_umath"]
        )
        return " ".join(sorted(name for name, on in umath.__cpu_features__.items() if on))

    yield from probed(
        "numpy.",
        (
            ("version", lambda: numpy.__version__),
            ("blas", lambda: dependency("blas")),
            ("lapack", lambda: dependency("lapack")),
            ("simd", features),
        ),
    )


def _of_framework(framework: registry.Framework, module: Any) -> Iterator[Fact]:
    if framework.environment == registry.VERSION:
        yield from probed(f"{framework.name}.", (("version", lambda: module.__version__),))
    else:
        yield from registry.found(framework.environment)(module)


_OFF = {"1", "true", "yes", "on"}
_NO_NETWORK = {"offline", "disabled", "dryrun", "local", "debug"}

# module, product, offline switch as one types it, variable and values that mean it is on already
# (lower case)
_TRACKERS: tuple[tuple[str, str, str, str, set[str]], ...] = (
    ("wandb", "Weights & Biases", "WANDB_MODE=offline", "WANDB_MODE", _NO_NETWORK),
    ("mlflow", "MLflow", "MLFLOW_TRACKING_URI=sqlite:///mlflow.db", "", set()),
    ("comet_ml", "Comet", "comet_ml.start(online=False)", "", set()),
    ("neptune", "Neptune", "NEPTUNE_MODE=offline", "NEPTUNE_MODE", _NO_NETWORK),
    ("neptune_scale", "Neptune", "NEPTUNE_MODE=offline", "NEPTUNE_MODE", _NO_NETWORK),
    ("clearml", "ClearML", "CLEARML_OFFLINE_MODE=1", "CLEARML_OFFLINE_MODE", _OFF),
    ("aim", "Aim", "a local path as its repo", "", set()),
    ("swanlab", "SwanLab", "SWANLAB_MODE=offline", "SWANLAB_MODE", _NO_NETWORK),
    ("huggingface_hub", "Hugging Face Hub", "HF_HUB_OFFLINE=1", "HF_HUB_OFFLINE", _OFF),
)


def trackers(modules: Mapping[str, Any] | None = None) -> list[tuple[str, str]]:
    """Return caveats (code, text) for the experiment trackers among `modules`.

    There is none for a tracker whose offline switch is on.

    Every library of Hugging Face loads its hub client, so the hub is named only where a token would
    let it upload.
    """
    loaded = sys.modules if modules is None else modules
    caveats = []
    for module, product, switch, variable, values in _TRACKERS:
        if loaded.get(module) is None or os.environ.get(variable, "").lower() in values:
            continue
        if not _SENDS.get(module, _yes)():
            continue
        text = (
            f"{product} ({module}) is loaded: what it sends to a server, or reads from there, is"
            f" not seen, and each run reports by itself. Offline: {switch}."
        )
        caveats.append((f"tracker-{module.replace('_', '-')}", text))
    return caveats


def _mlflow_has_a_server() -> bool:
    uri = os.environ.get("MLFLOW_TRACKING_URI", "")
    return not uri.startswith(("file:", "sqlite:", "/", "."))


def _hub_token() -> bool:
    """Return whether there is a token of the hub; its value is not read."""
    if os.environ.get("HF_TOKEN") or os.environ.get("HUGGING_FACE_HUB_TOKEN"):
        return True
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    home = os.environ.get("HF_HOME") or os.path.join(cache, "huggingface")
    return os.path.exists(os.environ.get("HF_TOKEN_PATH") or os.path.join(home, "token"))


_SENDS = {"mlflow": _mlflow_has_a_server, "huggingface_hub": _hub_token}
"""Whether a library would send anything, where that is to be asked."""
