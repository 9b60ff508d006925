"""The training scripts below a folder, by their source alone."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reprocheck.suite.surface import SourceFile, source_files

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
    """Describe a training script.

    words   the words after `reprocheck run`, if started in `folder`
    """

    path: Path
    words: tuple[str, ...]
    folder: Path


def below(folder: Path, start: Path) -> list[Script]:
    """Return the training scripts below a folder, by path.

    Each is given as it is started in the folder `start`.

    A training script is a program (it has a guard, or acts where it is executed) that imports a
    framework and calls what a training calls. Hidden folders, virtual environments, reports and
    tests are passed over, and files that cannot be parsed.
    """
    absolute = folder.absolute()

    def may_train(path: Path, source: bytes) -> bool:
        inside = path.relative_to(absolute)
        is_test = not _OF_TESTS.isdisjoint(inside.parts[:-1])
        if is_test or _NO_TRAINING.fullmatch(inside.stem):
            return False
        return _MENTIONS.search(source) is not None

    scripts = (_script(file, start) for file in source_files(folder, may_train))
    return [script for script in scripts if script is not None]


def _script(file: SourceFile, start: Path) -> Script | None:
    """Return a file as a training script; None if it is none."""
    path, tree = file.path, file.tree
    called = set(_called(ast.walk(tree)))
    imported = {name.partition(".")[0] for name in _imported(tree)}
    if called.isdisjoint(TRAINING) or imported.isdisjoint(FRAMEWORKS) or not _is_program(file):
        return None
    root = _root_of_package(file)
    if root is not None:
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        return Script(path=path, words=("-m", name), folder=root)
    words: tuple[str, ...] = (os.path.relpath(path, start),)
    if "init_process_group" in called and "spawn" not in called:
        words = (*_SEVERAL_RANKS, *words)
    return Script(path=path, words=words, folder=start)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _root_of_package(file: SourceFile) -> Path | None:
    """Return the folder from which a file is started as a module.

    It is if it imports from its own package; None if it is started as a script.
    """
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            return file.package_root
    imported = set(_imported(file.tree))
    for folder in file.path.parents:
        # `vision.data` is a module of the folder `vision`
        for name in imported:
            package, _, rest = name.partition(".")
            module = folder / rest.partition(".")[0]
            if package != folder.name or not rest:
                continue
            if module.is_dir() or module.with_suffix(".py").is_file():
                return folder.parent
    return None


def _is_program(file: SourceFile) -> bool:
    """Return whether a file is a program.

    It is if it has a main guard, or trains or calls its own function at module level.
    """
    if file.has_guard:
        return True
    functions = {node.name for node in file.tree.body if isinstance(node, ast.FunctionDef)}
    return not (TRAINING | functions).isdisjoint(_called(_executed(file.tree)))


def _executed(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the syntax nodes outside of functions and classes."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        yield node
        waiting.extend(ast.iter_child_nodes(node))


def _called(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the last part of the name of each called function."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute):
            yield node.func.attr
        if isinstance(node.func, ast.Name):
            yield node.func.id
