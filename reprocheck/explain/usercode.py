"""A short look at the user's own files for calls that fit a cause: hints, which support what the ladder shows and prove nothing.

A file that changed after the check began is not looked at: its lines may not be those that ran.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path

from reprocheck.child.reprocheck_child.masking import identity
from reprocheck.model import Check, SourceLine

MOST_FILES = 40
MOST_BYTES = 400_000

CALLS = {
    "clock": (
        "time.time",
        "time.time_ns",
        "time.perf_counter",
        "time.perf_counter_ns",
        "time.monotonic",
        "datetime.now",
        "datetime.utcnow",
    ),
    "entropy": (
        "SystemRandom",
        "os.urandom",
        "secrets.*",
        "uuid.uuid4",
        "uuid.uuid1",
        "os.getpid",
        "torch.seed",
        "from_non_deterministic_state",
    ),
    "identity": ("uuid.uuid4", "uuid.uuid1", "os.getpid"),
    "memory": ("torch.empty", "torch.empty_like", "new_empty", "resize_", "numpy.empty", "numpy.empty_like", "torch.empty_strided"),
    "hash": ("hash",),
    "listing": ("os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob", ".iterdir", ".glob", ".rglob"),
    "temporary": ("tempfile.mkstemp", "tempfile.mkdtemp", "tempfile.NamedTemporaryFile", "tempfile.TemporaryDirectory", "tempfile.mktemp"),
    "arrival": ("as_completed", "imap_unordered"),
    "compile": ("torch.compile",),
    "threads": ("threading.Thread", "share_memory", "share_memory_"),
    "hook": ("register_hook", "register_full_backward_hook", "register_post_accumulate_grad_hook"),
    "draw": (
        *(f"random.{name}" for name in ("random", "uniform", "gauss", "choice", "choices", "shuffle", "sample", "randint", "randrange")),
        *(f"numpy.random.{name}" for name in ("rand", "randn", "random", "uniform", "normal", "standard_normal", "permutation")),
        *(f"numpy.random.{name}" for name in ("randint", "choice", "shuffle", "beta", "binomial", "poisson")),
        "torch.rand",
    ),
}
"""Kind of hint -> names that end a call: `os.listdir` stands for itself, `.glob` for a method of anything, `secrets.*` for a module."""

ONLY_BARE = {
    "entropy": (
        "default_rng",
        "RandomState",
        "random.Random",
        ".seed",
        "numpy.random.seed",
        "random.seed",
        "SeedGenerator",
        "SeedSequence",
    ),
}
"""The same, for calls without any argument."""

_A_SET = "{}"
_KEEP_ORDER = ("list", "tuple", "enumerate", "iter", "zip", "map", "dict.fromkeys")
SEEDS = ("torch.manual_seed", "random.seed", "numpy.random.seed", "set_seed", "set_random_seed", "seed_everything", "seed_all")


@dataclass(frozen=True, kw_only=True, slots=True)
class Hint:
    """A line that fits. `name` is what was called there."""

    kind: str
    name: str
    source: SourceLine


class UserCode:
    """The files of a check that are the user's own: the entry script, what it imports from beside itself, and what the ladder names."""

    def __init__(self, check: Check, folder: Path) -> None:
        self._started = _seconds(check.record.started)
        self._roots = [root for root in (Path.cwd(), folder.resolve().parent.parent) if root.is_dir()]
        self._script = _script(check)
        named = [rung.source.file for rung in (check.ladder.rungs if check.ladder else ()) if rung.source]
        self._named = tuple(dict.fromkeys(named))

    @cached_property
    def hints(self) -> tuple[Hint, ...]:
        """All hints, file by file, those of the files that the ladder names first."""
        return tuple(hint for name, path in self._files().items() for hint in _hints(name, path))

    def of(self, *kinds: str, near: SourceLine | None = None) -> Hint | None:
        """The first hint of the first of these kinds; with `near` the one in that file whose line is nearest."""
        for kind in kinds:
            found = [hint for hint in self.hints if hint.kind == kind]
            if found:
                return min(found, key=lambda hint: _distance(hint.source, near)) if near else found[0]
        return None

    def on(self, line: SourceLine | None, *kinds: str) -> Hint | None:
        """A hint of these kinds on that very line or next to it, where a statement of several lines begins or ends."""
        if line is None:
            return None
        found = [hint for hint in self.hints if hint.kind in kinds and _distance(hint.source, line) <= 1]
        return min(found, key=lambda hint: _distance(hint.source, line), default=None)

    def with_text(self, line: SourceLine | None) -> SourceLine | None:
        """A line with its text, where the file is still as it was."""
        if line is None or line.text:
            return line
        path = self._find(line.file)
        try:
            lines = _read(path).splitlines() if path else []
        except OSError:
            lines = []
        return replace(line, text=lines[line.line - 1].strip()[:200]) if 0 < line.line <= len(lines) else line

    def _files(self) -> dict[str, Path]:
        """Name -> path, the files named first and then the script and what it imports."""
        found: dict[str, Path] = {}
        waiting = [*self._named, *([self._script] if self._script else [])]
        while waiting and len(found) < MOST_FILES:
            name = waiting.pop(0)
            path = self._find(name)
            if path is None or path in found.values():
                continue
            found[name] = path
            waiting += _imported(path, name)
        return found

    def _find(self, name: str) -> Path | None:
        for root in self._roots:
            path = root / _unmasked(name)
            try:
                state = path.stat()
            except OSError:
                continue
            if path.suffix == ".py" and state.st_size <= MOST_BYTES and (self._started is None or state.st_mtime < self._started + 1):
                return path
        return None


def _unmasked(name: str) -> str:
    """A path of this machine, of which the trace holds home and user masked."""
    home, user, _ = identity()
    return (f"{home}{name[1:]}" if name.startswith("~/") else name).replace("<user>", user)


def _seconds(started: str) -> float | None:
    try:
        return datetime.fromisoformat(started).timestamp()  # whole seconds
    except ValueError:
        return None


def _script(check: Check) -> str:
    """The script of the entry point; of a module or a launcher, the first argument that a training process had."""
    words = check.record.entry_point.command
    argv = [word for run in check.runs[:1] for trace in run.traces for word in trace.process.argv[:1]]
    name = next((word for word in (*argv, *words) if word.endswith(".py")), "")
    return os.path.relpath(name) if name and os.path.isabs(name) and Path(name).is_relative_to(Path.cwd()) else name  # noqa: PTH117


def _distance(line: SourceLine, near: SourceLine | None) -> int:
    return abs(line.line - near.line) if near and line.file == near.file else 1 << 30


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _imported(path: Path, name: str) -> list[str]:
    """Files beside this one that it imports, named as it is."""
    folder, shown = path.parent, Path(name).parent
    modules: list[str] = []
    for node in _walk(path):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            modules += [base, *(f"{base}.{alias.name}".strip(".") for alias in node.names)]
    files = [
        option for module in modules for option in (Path(*module.split(".")).with_suffix(".py"), Path(*module.split("."), "__init__.py"))
    ]
    return [str(shown / file) for file in dict.fromkeys(files) if (folder / file).is_file()]


def _walk(path: Path) -> Iterable[ast.AST]:
    try:
        return ast.walk(ast.parse(_read(path)))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return ()


# ---------------------------------------------------------------------------------------------------------------- hints


def _hints(name: str, path: Path) -> Iterator[Hint]:
    try:
        text = _read(path)
        tree = ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    lines = text.splitlines()
    names = _aliases(tree)
    ordered = {id(child) for node in ast.walk(tree) if _called(node, names) == "sorted" for child in ast.walk(node) if child is not node}
    timing = {id(call) for node in ast.walk(tree) for call in _timing(node)}
    for kind, called, line in sorted(_found(tree, names, ordered, timing), key=lambda hint: hint[2]):
        yield Hint(kind=kind, name=called, source=SourceLine(file=name, line=line, text=lines[line - 1].strip()[:200]))


def _timing(node: ast.AST) -> Iterator[ast.AST]:
    """Calls that only measure how long something takes, if they read a clock: `start = clock()`, `clock() - start`."""
    if isinstance(node, ast.Assign):
        yield node.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        yield node.left


def _found(tree: ast.AST, names: dict[str, str], ordered: set[int], timing: set[int]) -> Iterator[tuple[str, str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            hints = _of_call(node, names, id(node) in ordered)
            yield from (hint for hint in hints if not (hint[0] == "clock" and id(node) in timing))
        elif isinstance(node, ast.Assign) and any(_is_hash_seed(target) for target in node.targets):
            yield "late hash seed", 'os.environ["PYTHONHASHSEED"]', node.lineno
        elif isinstance(node, ast.Assign) and any(ast.unparse(target).endswith("cudnn.benchmark") for target in node.targets):
            if isinstance(node.value, ast.Constant) and node.value.value is True:
                yield "benchmark", "torch.backends.cudnn.benchmark", node.lineno
        elif isinstance(node, ast.For | ast.comprehension) and _is_set(node.iter, names):
            yield "set order", "a loop over a set", node.iter.lineno
        elif isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Function") for base in node.bases):
            yield "custom backward", f"class {node.name}", node.lineno


def _of_call(node: ast.Call, names: dict[str, str], ordered: bool) -> Iterator[tuple[str, str, int]]:
    name = _called(node, names)
    if not name:
        return
    for kind, patterns in CALLS.items():
        if _matches(name, patterns) and not (ordered and kind in ("listing", "temporary")):
            yield kind, name, node.lineno
    if not node.args and not node.keywords:
        for kind, patterns in ONLY_BARE.items():
            if _matches(name, patterns):
                yield kind, name, node.lineno
    elif _matches(name, SEEDS):
        yield "seed", name, node.lineno
    keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
    if keywords.get("key") == "id":
        yield "address", f"{name}(key=id)", node.lineno
    if keywords.get("in_order") == "False":
        yield "arrival", "in_order=False", node.lineno
    if name.endswith("train_test_split") and "random_state" not in keywords:
        yield "split", name, node.lineno
    if name in _KEEP_ORDER and not ordered and any(_is_set(argument, names) for argument in node.args):
        yield "set order", f"{name} of a set", node.lineno


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(
        name.startswith(pattern[:-1])
        if pattern.endswith("*")
        else f".{name}".endswith("." + pattern.lstrip(".")) and _rooted(name, pattern)
        for pattern in patterns
    )


def _rooted(name: str, pattern: str) -> bool:
    """A pattern with a dot in front asks for a method; one without any dot takes a bare name or the end of a dotted one, but for `hash`."""
    return ("." in name) if pattern.startswith(".") else (name == "hash" if pattern == "hash" else True)


def _aliases(tree: ast.AST) -> dict[str, str]:
    """What names in a file stand for: `np` -> `numpy`, `listdir` -> `os.listdir`; and which are given a set somewhere."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_set(node.value, names):
            names |= {target.id: _A_SET for target in node.targets if isinstance(target, ast.Name)}
    return names


def _called(node: ast.AST, names: dict[str, str]) -> str:
    """The dotted name of what is called, imports resolved; of a method of something unnamed, its name behind a dot."""
    if not isinstance(node, ast.Call):
        return ""
    parts: list[str] = []
    at: ast.AST = node.func
    while isinstance(at, ast.Attribute):
        parts.append(at.attr)
        at = at.value
    if isinstance(at, ast.Name):
        return ".".join([names.get(at.id, at.id), *reversed(parts)])
    return "." + ".".join(reversed(parts)) if parts else ""


def _is_set(node: ast.AST, names: dict[str, str]) -> bool:
    """A set by its own words: a display, a comprehension, `set(...)`, and what `enumerate` or `list` makes of one."""
    if isinstance(node, ast.Set | ast.SetComp) or (isinstance(node, ast.Name) and names.get(node.id) == _A_SET):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.BitXor):
        return _is_set(node.left, names) or _is_set(node.right, names)
    called = _called(node, names)
    return called in ("set", "frozenset") or (called.endswith((".union", ".intersection", ".difference")) and "set" in ast.unparse(node))


def _is_hash_seed(target: ast.AST) -> bool:
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == "PYTHONHASHSEED"
