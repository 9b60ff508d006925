"""Programs: which modules are one, what happens when it is executed, and programs of texts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from reprocheck.scan import execution
from reprocheck.scan.checks import streams, tables
from reprocheck.scan.entry import is_guard
from reprocheck.scan.project import Execution, Module, Project, Resolver
from reprocheck.scan.source import parse
from reprocheck.scan.steps import Call
from reprocheck.scan.text import UnreadableError

TRAINING = frozenset(
    {
        "backward",
        "step",
        "zero_grad",
        "fit",
        "train_on_batch",
        "fit_generator",
        "apply_gradients",
        "minimize",
        "update",
    }
)
"""Methods whose call at the top level of a module is a training; `update` and `step` count inside
of a loop only.
"""
_IN_LOOP = frozenset({"step", "update"})
_DRIVERS = frozenset(
    {
        "lightning.pytorch.Trainer().fit",
        "transformers.Trainer().train",
        "mindspore.train.Model().train",
        "mindspore.Model().train",
    }
    | {
        "jax.grad",
        "jax.value_and_grad",
        "mindspore.value_and_grad",
        "mindspore.ops.value_and_grad",
        "torch.autograd.grad",
    }
)


def is_entry(module: Module) -> bool:
    """Whether a module is a program."""
    if any(is_guard(statement) for statement in module.tree.body) or _trains(module):
        return True
    if module.package or id(module) in module.project.imported:
        return False
    return module.single or _acts(module)


def _acts(module: Module) -> bool:
    """Whether a module that nobody imports trains, seeds or draws as soon as it is executed, itself
    or in functions that it calls.
    """
    calls = [step for step in module.body.machine.steps if isinstance(step, Call)]
    return any(
        streams.is_training(call) or call.name in tables.seeds() or call.name in tables.draws()
        for call in calls
    )


def _trains(module: Module) -> bool:
    """Whether the top level, outside of functions and classes, trains."""
    for node, in_loop in _top_level(module.tree.body, in_loop=False):
        if isinstance(node, ast.Call):
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if method in TRAINING and (in_loop or method not in _IN_LOOP):
                return True
            if module.names.of(node.func) in _DRIVERS:
                return True
    return False


def _top_level(body: list[ast.stmt], *, in_loop: bool) -> Iterator[tuple[ast.AST, bool]]:
    waiting: list[tuple[ast.AST, bool]] = [(statement, in_loop) for statement in body]
    while waiting:
        node, looped = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        yield node, looped
        inner = looped or isinstance(node, ast.For | ast.While | ast.AsyncFor)
        waiting.extend((child, inner) for child in ast.iter_child_nodes(node))


EXECUTION = Execution(
    is_entry=is_entry,
    body=execution.body,
    program=execution.program,
    orders=execution.orders,
)
"""What projects are made with."""


class Beside(Resolver):
    """Modules by their paths: beside the program, beside the file that imports them, in the folders
    above, and where one alone fits.
    """

    def __init__(self, project: Project, program: Path) -> None:
        self._project, self._program = project, program

    def find(self, name: str, importer: Module) -> Module | None:
        """The module of that name."""
        parts = name.split(".")
        if not all(parts):
            return None
        for folder in dict.fromkeys(
            (
                self._program.parent,
                importer.source.path.parent,
                *importer.source.path.parents,
                Path(),
            )
        ):
            path = folder.joinpath(*parts)
            found = self._project.modules.get(
                path.with_name(f"{path.name}.py")
            ) or self._project.modules.get(path / "__init__.py")
            if found is not None:
                return found
        return self._elsewhere(parts)

    def _elsewhere(self, parts: list[str]) -> Module | None:
        """The one file of the program whose path ends as the name does: it lies in another folder
        of the search path.
        """
        ends = (Path(*parts[:-1], f"{parts[-1]}.py").parts, Path(*parts, "__init__.py").parts)
        found = [
            module
            for path, module in self._project.modules.items()
            if any(path.parts[-len(end) :] == end for end in ends)
        ]
        return found[0] if len(found) == 1 else None


def of_program(files: Mapping[str, str], script: str) -> Project:
    """A project of the texts of a program, by path, of which `script` is executed.

    What cannot be parsed is left out.
    """
    project = Project(EXECUTION)
    project.resolver = Beside(project, Path(script))
    for name, text in files.items():
        path = Path(name)
        parts = path.with_suffix("").parts
        package = parts[-1] == "__init__"
        try:
            source = parse(path, name, text.encode("utf-8", "replace"))
        except UnreadableError:
            continue
        dotted = ".".join(parts[:-1] if package else parts)
        project.modules[path] = Module(
            name=dotted, source=source, project=project, package=package, single=name == script
        )
    return project


def of_text(files: Mapping[str, str | bytes], *, single: bool = True) -> Project:
    """A project of texts by path, without files: `of_text({"train.py": "import torch"})`.

    Raises UnreadableError.
    """
    project = Project(EXECUTION)
    for path, text in files.items():
        data = text.encode() if isinstance(text, str) else text
        parts = Path(path).with_suffix("").parts
        package = parts[-1] == "__init__"
        source = parse(Path(path), path, data)
        name = ".".join(parts[:-1] if package else parts)
        project.modules[Path(path)] = Module(
            name=name, source=source, project=project, package=package, single=single
        )
    return project
