"""The training scripts below a folder, by their source alone."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reprocheck.files.source_text import UnreadableError
from reprocheck.scan import files
from reprocheck.scan.entry import is_guard
from reprocheck.scan.source import parse, read

FRAMEWORKS = (
    "accelerate", "flax", "jax", "keras", "lightning", "mindspore", "pytorch_lightning",
    "reprocheck", "tensorflow", "torch", "transformers",
)  # fmt: skip
"""Packages of which a training script imports one."""
TRAINING = frozenset({
    "GradOperation", "GradientTape", "Model", "TrainOneStepCell", "Trainer", "apply_gradients",
    "backward", "fit", "fit_generator", "grad", "log_loss", "minimize", "train_on_batch",
    "value_and_grad",
})  # fmt: skip
"""Names of functions and classes of which a training calls one."""
_OF_TESTS = frozenset({"test", "tests", "testing"})
_NO_TRAINING = re.compile(r"test_.*|.*_test|conftest|setup|noxfile")
_MENTIONS = re.compile(rb"\b(?:" + "|".join(FRAMEWORKS).encode() + rb")\b")
_SEVERAL_RANKS = ("--", "torchrun", "--nproc-per-node", "2")


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A training script.

    words   what stands behind `reprocheck run`, started in `folder`
    """

    path: Path
    words: tuple[str, ...]
    folder: Path


def below(folder: Path, start: Path) -> list[Script]:
    """Return the training scripts below a folder, by path, as they are started in the folder
    `start`.

    A training script is a program (it has a guard, or acts where it is executed) that imports a
    framework and calls what a training calls. Hidden folders, virtual environments, reports and
    tests are passed over, and files that cannot be parsed.
    """
    found, _ = files.find([folder])
    paths = [one.path for one in found if not _of_tests(one.path.relative_to(folder.absolute()))]
    scripts = (_script(path, start) for path in sorted(paths))
    return [script for script in scripts if script is not None]


def _of_tests(path: Path) -> bool:
    return not _OF_TESTS.isdisjoint(path.parts[:-1]) or bool(_NO_TRAINING.fullmatch(path.stem))


def _script(path: Path, start: Path) -> Script | None:
    """Return the file as a training script; None where it is none."""
    try:
        source = read(path)
        if not _MENTIONS.search(source):
            return None
        tree = parse(path, path.name, source).tree
    except UnreadableError:
        return None
    called = set(_called(ast.walk(tree)))
    if not _imports_a_framework(tree) or called.isdisjoint(TRAINING) or not _is_program(tree):
        return None
    root = _root_of_package(path, tree)
    if root is not None:
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        return Script(path=path, words=("-m", name), folder=root)
    words: tuple[str, ...] = (os.path.relpath(path, start),)
    if "init_process_group" in called and "spawn" not in called:
        words = (*_SEVERAL_RANKS, *words)
    return Script(path=path, words=words, folder=start)


def _imports_a_framework(tree: ast.Module) -> bool:
    return any(name.partition(".")[0] in FRAMEWORKS for name in _imported(tree))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _root_of_package(path: Path, tree: ast.Module) -> Path | None:
    """Return the folder from which it is started as a module, since it imports from its own
    package; None where it does not, and is started as a script.
    """
    if any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree)):
        return files.package_root(path.parent)
    imported = set(_imported(tree))
    own = (folder for folder in path.parents if _holds_any(folder, imported))
    return next((folder.parent for folder in own), None)


def _holds_any(folder: Path, imported: Iterable[str]) -> bool:
    """Return whether one of the names is that of a module in the folder: `vision.data` in
    `vision`.
    """
    of_folder = (name.split(".") for name in imported if name.startswith(f"{folder.name}."))
    inside = (folder / parts[1] for parts in of_folder)
    return any(one.is_dir() or one.with_suffix(".py").is_file() for one in inside)


def _is_program(tree: ast.Module) -> bool:
    """Return whether it has a guard, or trains or calls a function of its own when it is
    executed.
    """
    if any(map(is_guard, tree.body)):
        return True
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    return not (TRAINING | functions).isdisjoint(_called(_executed(tree)))


def _executed(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes outside of functions and classes."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        yield node
        waiting.extend(ast.iter_child_nodes(node))


def _called(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the last parts of the names of all that is called."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute):
            yield node.func.attr
        if isinstance(node.func, ast.Name):
            yield node.func.id
