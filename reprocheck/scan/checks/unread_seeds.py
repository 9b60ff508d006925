"""Find seeds that a program parses and that none of its code reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from reprocheck.scan.names import last_part
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.registry import Hit, check_programs
from reprocheck.settings.must_differ import is_seed

CODE = "RC410"
_WHOLE = ("vars", "asdict", "fields", "astuple", "getattr")
"""Functions that read all options, or one by a name that is computed."""
_PRINTS = ("print", "str", "repr", "info", "debug")
_PARSES = ("parse_args", "parse_known_args", "parse_args_into_dataclasses")
_COMMANDS = ("command", "main")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Defined:
    """An option that is named as a seed: the expression that defines it, and its name in code."""

    node: ast.AST
    name: str


@check_programs(CODE)
def unread(order: Order) -> Iterator[Hit]:
    """Find seeds of argparse, click, typer and dataclasses in the main file that nothing reads."""
    module = order.root
    options = (*_of_parsers(module), *_of_dataclasses(module))
    parameters = _of_commands(module)
    if options:
        modules = _reached(module)
        if not any(map(_reads_whole, modules)):
            read = {name for one in modules for name in _read(one)}
            parameters += [one for one in options if one.name not in read]
    for one in parameters:
        message = f"`{one.name}` is parsed, and no code of the program reads it"
        yield Hit(code=CODE, module=module, node=one.node, message=message)


def _of_parsers(module: Module) -> Iterator[_Defined]:
    """Yield the options that `add_argument` defines."""
    for node in module.nodes(ast.Call):
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "add_argument":
            continue
        words = [one.value for one in node.args if isinstance(one, ast.Constant)]
        keywords = {one.arg: one.value for one in node.keywords}
        given = keywords.get("dest")
        long = next((word for word in words if str(word).startswith("--")), next(iter(words), ""))
        name = str(given.value if isinstance(given, ast.Constant) else long)
        name = name.lstrip("-").replace("-", "_")
        if is_seed(name):
            yield _Defined(node=node, name=name)


def _of_dataclasses(module: Module) -> list[_Defined]:
    """Return the seeds of dataclasses that have no base class."""
    found = []
    for node in module.nodes(ast.ClassDef):
        marks = [module.name_of(getattr(one, "func", one)) for one in node.decorator_list]
        if node.bases or not any(last_part(mark) == "dataclass" for mark in marks):
            continue
        for field in node.body:
            target = getattr(field, "target", None)
            if isinstance(field, ast.AnnAssign) and isinstance(target, ast.Name):
                found.append(_Defined(node=field, name=target.id))
    return [one for one in found if is_seed(one.name)]


def _of_commands(module: Module) -> list[_Defined]:
    """Return the parameters of commands of click and typer that their function does not read."""
    if not module.uses_package("click", "typer"):
        return []
    found = []
    for node in module.nodes(ast.FunctionDef):
        marks = [getattr(one, "func", one) for one in node.decorator_list]
        attributes = {one.attr for one in marks if isinstance(one, ast.Attribute)}
        if attributes.isdisjoint(_COMMANDS):
            continue
        read = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        if "locals" in read:
            continue
        parameters = (*node.args.args, *node.args.kwonlyargs)
        found += [
            _Defined(node=one, name=one.arg)
            for one in parameters
            if is_seed(one.arg) and one.arg not in read
        ]
    return found


def _reached(root: Module) -> list[Module]:
    """Return the modules of a program: the main one and all that it imports."""
    modules = {id(root): root}
    waiting = [root]
    while waiting:
        for module in waiting.pop().imports:
            if id(module) not in modules:
                modules[id(module)] = module
                waiting.append(module)
    return list(modules.values())


def _reads_whole(module: Module) -> bool:
    """Return whether code takes all options at once: `vars(args)`, `Model(args)`, `**options`."""
    parsed = set(_parsed_names(module))
    own = {node.name for node in module.nodes(ast.FunctionDef)}
    for node in module.nodes(ast.Call):
        function = last_part(module.name_of(node.func) or ast.unparse(node.func))
        given = (*node.args, *(one.value for one in node.keywords))
        hands_on = any(isinstance(one, ast.Name) and one.id in parsed for one in given)
        if function in _WHOLE and not _names_another(node):
            return True
        if hands_on and function not in own and function not in _PRINTS:
            return True
    return any(node.attr == "__dict__" for node in module.nodes(ast.Attribute))


def _names_another(node: ast.Call) -> bool:
    """Return whether a call reads one attribute by a name that is written down."""
    return len(node.args) > 1 and isinstance(node.args[1], ast.Constant)


def _parsed_names(module: Module) -> Iterator[str]:
    """Yield the variables that hold what was parsed."""
    for node in module.nodes(ast.Assign):
        value = node.value
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
            continue
        if value.func.attr not in _PARSES:
            continue
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            yield from (one.id for one in names if isinstance(one, ast.Name))


def _read(module: Module) -> Iterator[str]:
    """Yield what is read as an attribute, or stands in a text; a called function is not."""
    called = {id(node.func) for node in module.nodes(ast.Call)}
    for node in module.nodes(ast.Attribute):
        if isinstance(node.ctx, ast.Load) and id(node) not in called:
            yield node.attr
    for node in module.nodes(ast.Constant):
        if isinstance(node.value, str):
            yield node.value
