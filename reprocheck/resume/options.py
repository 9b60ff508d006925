"""The option by which a script is told to resume, found in its source: of argparse, click, typer,
absl, fire, classes of arguments, Hydra and OmegaConf, plain `sys.argv`, and variables that a
configurator sets.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reprocheck.model import SourceLine
from reprocheck.resume.asked import CHECKPOINT
from reprocheck.resume.model import Option
from reprocheck.scan.index import within
from reprocheck.scan.syntax import word

Trees = Mapping[str, ast.Module]
_NAMES: Sequence[tuple[int, tuple[str, ...]]] = (
    (0, ("resume",)),
    (1, ("continue", "restart")),
    (2, ("restore",)),
    (3, ("ckpt_path", "from_checkpoint", "load_checkpoint", "load_ckpt", "init_from", "load_from")),
    (4, ("checkpoint_path", "load_path", "load", "checkpoint", "ckpt")),
)
"""What stands in the name of such an option, the surest first."""
_OTHERS = frozenset(
    (
        "every", "freq", "frequency", "interval", "dir", "folder", "save", "keep", "num", "best",
        "only", "grad", "gradient", "activation", "pretrained", "strategy", "wandb", "id", "no",
        "skip", "limit", "data", "model", "checkpointing", "epochs", "steps",
    )
)  # fmt: skip
"""Words in names of other options."""
_READS = ("load", "restore", "resume", "read", "fit", "train", "exists", "from_checkpoint")
"""What an option is given to that is no less than the checkpoint."""
_ASKED = ("resume", "auto", "latest", "last")
"""Values that ask for a resume."""
_PARSERS = ("HfArgumentParser", "tyro", "simple_parsing", "draccus", "pyrallis", "jsonargparse")
_TRUE = {"hydra": "true", "class": "True"}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Found:
    """An option of a script.

    name   as it is typed: `--resume`, `resume=`
    form   `flag`, `value`, `true` (a value that is a truth), or the value itself
    by     who reads the command line
    """

    name: str
    form: str
    line: int
    by: str = "argparse"

    @property
    def rank(self) -> int | None:
        """How sure its name says that it resumes; None where it does not."""
        plain = self.name.strip("-=+").replace("-", "_").lower()
        words = set(plain.split("_"))
        for rank, names in _NAMES:
            if any(plain == one or (rank < 4 and one in plain) for one in names):
                return None if words & _OTHERS and plain not in names else rank
        return None

    @property
    def words(self) -> str:
        """As it is added to the command."""
        if self.form == "flag":
            return self.name
        value = {"value": CHECKPOINT, "true": _TRUE.get(self.by, "true")}.get(self.form, self.form)
        joint = "" if self.name.endswith("=") else " "
        return f"{self.name}{joint}{value}"


def option_of(trees: Trees, given: Sequence[str]) -> Option | None:
    """The option that a script has to be given to resume, where its source has one; `given`: the
    words of its command, which may have it already.
    """
    ranked: list[tuple[int, Option]] = []
    for file, tree in trees.items():
        for found in _options(tree, trees):
            rank = found.rank
            is_given = any(word.startswith(found.name) for word in given)
            if rank is None or is_given or (rank > 2 and not _is_read(found, trees)):
                continue
            source = SourceLine(file=file, line=found.line)
            ranked.append((rank, Option(words=found.words, source=source)))
    return min(ranked, key=lambda one: one[0], default=(0, None))[1]


def _options(tree: ast.Module, trees: Trees) -> Iterator[_Found]:
    calls = list(within([tree], ast.Call))
    for call in calls:
        name = word(call)
        if name in ("add_argument", "add_option"):
            yield from _of_argparse(call, trees)
        elif name in ("option", "Option"):
            yield from _named(call, "flag" if _is_true(call, "is_flag") else "value")
        elif name.startswith("DEFINE_"):
            yield from _of_absl(call)
        elif name == "LightningCLI":
            yield _Found(name="--ckpt_path", form="value", line=call.lineno)
        elif name == "Fire":
            yield from _of_fire(call, trees)
    yield from _of_typer(tree)
    yield from _of_classes(tree, trees)
    yield from _of_hydra(tree)
    yield from _of_argv(tree)
    yield from _of_configurator(tree, calls)


def _texts(call: ast.Call) -> list[str]:
    values = (one.value for one in call.args if isinstance(one, ast.Constant))
    return [value for value in values if isinstance(value, str)]


def _named(call: ast.Call, form: str) -> Iterator[_Found]:
    """The longest name of an option, of those that a call gives it."""
    names = [text.partition("/")[0] for text in _texts(call) if text.startswith("-")]
    if names:
        yield _Found(name=max(names, key=len), form=form, line=call.lineno)


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((one.value for one in call.keywords if one.arg == name), None)


def _is_true(call: ast.Call, name: str) -> bool:
    value = _keyword(call, name)
    return isinstance(value, ast.Constant) and value.value is True


def _of_argparse(call: ast.Call, trees: Trees) -> Iterator[_Found]:
    action, kind = _keyword(call, "action"), _keyword(call, "type")
    said = ast.unparse(action) if action is not None else ""
    if "store_true" in said or "BooleanOptionalAction" in said:
        yield from _named(call, "flag")
        return
    nargs = _keyword(call, "nargs")
    if isinstance(nargs, ast.Constant) and nargs.value == "?" and _keyword(call, "const"):
        yield from _named(call, "flag")
        return
    written = ast.unparse(kind) if kind is not None else ""
    if written in ("int", "float"):
        return
    if "bool" in written:
        yield from _named(call, "true")
        return
    choices = _keyword(call, "choices")
    for found in _named(call, "value"):
        form = _asked(choices) or _compared(found.name, trees) or "value"
        yield _Found(name=found.name, form=form, line=found.line)


def _asked(choices: ast.expr | None) -> str:
    """The one of several values that asks for a resume; "" where none does."""
    if not isinstance(choices, (ast.List, ast.Tuple, ast.Set)):
        return ""
    values = [one.value for one in choices.elts if isinstance(one, ast.Constant)]
    return next((str(one) for one in values if one in _ASKED), "")


def _compared(name: str, trees: Trees) -> str:
    """A value that asks for a resume, with which the source compares an option."""
    attribute = name.strip("-=").replace("-", "_")
    for tree in trees.values():
        for node in within([tree], ast.Compare):
            if _last(node.left) == attribute:
                values = [one.value for one in node.comparators if isinstance(one, ast.Constant)]
                found = next((str(one) for one in values if one in _ASKED), "")
                if found:
                    return found
    return ""


def _last(node: ast.expr) -> str:
    """`resume` of `args.resume`, `cfg["resume"]` and `resume`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return node.id if isinstance(node, ast.Name) else ""


def _of_absl(call: ast.Call) -> Iterator[_Found]:
    texts = _texts(call)
    form = "flag" if "bool" in word(call) else "value"
    if texts and "int" not in word(call):
        yield _Found(name=f"--{texts[0]}", form=form, line=call.lineno)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    yield from within([tree], ast.FunctionDef)


def _parameters(function: ast.FunctionDef) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The parameters that have a default, which stands behind each."""
    plain = function.args.args
    defaults = function.args.defaults
    yield from zip(plain[len(plain) - len(defaults) :], defaults, strict=True)
    yield from zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)


def _form(default: ast.expr | None, kind: ast.expr | None) -> str:
    """What a parameter takes, by its default and its type."""
    if isinstance(default, ast.Constant) and isinstance(default.value, bool):
        return "true"
    written = ast.unparse(kind) if kind is not None else ""
    return "true" if written == "bool" else "value"


def _of_fire(call: ast.Call, trees: Trees) -> Iterator[_Found]:
    names = {ast.unparse(one) for one in call.args[:1]}
    for tree in trees.values():
        for function in _functions(tree):
            if names and function.name not in names:
                continue
            for parameter, default in _parameters(function):
                form = "flag" if _form(default, parameter.annotation) == "true" else "value"
                yield _Found(name=f"--{parameter.arg}", form=form, line=parameter.lineno)


def _of_typer(tree: ast.Module) -> Iterator[_Found]:
    for function in _functions(tree):
        decorators = " ".join(map(ast.unparse, function.decorator_list))
        is_run = any(
            word(call) == "run" and function.name in map(ast.unparse, call.args)
            for call in within([tree], ast.Call)
        )
        if ".command" not in decorators and not (is_run and "typer" in ast.unparse(tree)):
            continue
        if "click" in decorators:
            continue
        for parameter, default in _parameters(function):
            name = f"--{parameter.arg.replace('_', '-')}"
            form = "flag" if _form(default, parameter.annotation) == "true" else "value"
            yield _Found(name=name, form=form, line=parameter.lineno)


def _of_classes(tree: ast.Module, trees: Trees) -> Iterator[_Found]:
    """Fields of dataclasses, where a library makes options of them."""
    sources = " ".join(map(ast.unparse, trees.values()))
    if not any(name in sources for name in _PARSERS):
        return
    dashed = "tyro" in sources
    for node in within([tree], ast.AnnAssign):
        if not isinstance(node.target, ast.Name):
            continue
        name = node.target.id.replace("_", "-") if dashed else node.target.id
        form = _form(node.value, node.annotation)
        if dashed and form == "true":
            form = "flag"
        yield _Found(name=f"--{name}", form=form, line=node.lineno, by="class")
    if (
        "HfArgumentParser" in sources
    ):  # a field of `TrainingArguments`, which the library leaves alone
        for one in within([tree], ast.Attribute):
            if one.attr == "resume_from_checkpoint":
                yield _Found(name=f"--{one.attr}", form="value", line=one.lineno)


def _of_hydra(tree: ast.Module) -> Iterator[_Found]:
    """What a script asks its configuration for, where Hydra or OmegaConf reads the command line."""
    source = ast.unparse(tree)
    if not any(name in source for name in ("hydra.main", "from_cli", "from_dotlist")):
        return
    holders = {
        function.args.args[0].arg
        for function in _functions(tree)
        if "hydra.main" in " ".join(map(ast.unparse, function.decorator_list))
        if function.args.args
    }
    holders |= {
        ast.unparse(node.targets[0])
        for node in within([tree], ast.Assign)
        if any(word(call) in ("merge", "from_cli") for call in within([node.value], ast.Call))
    }
    for node in within([tree], ast.Attribute):
        root, _, path = ast.unparse(node).partition(".")
        if root in holders and path.replace(".", "").isidentifier():
            form = "true" if _is_tested(node, tree) else "value"
            yield _Found(name=f"{path}=", form=form, line=node.lineno, by="hydra")


def _is_tested(node: ast.Attribute, tree: ast.Module) -> bool:
    """Whether an expression is only ever asked for its truth."""
    text = ast.unparse(node)
    tests = [ast.unparse(one.test) for one in within([tree], ast.If)]
    uses = [one for one in within([tree], ast.Attribute) if ast.unparse(one) == text]
    tested = sum(text in test for test in tests)
    return tested >= len(uses)


def _of_argv(tree: ast.Module) -> Iterator[_Found]:
    """`"--resume" in sys.argv`, `sys.argv[1] == "resume"`."""
    for node in within([tree], ast.Compare):
        if "argv" not in ast.unparse(node):
            continue
        for one in (node.left, *node.comparators):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield _Found(name=one.value, form="flag", line=node.lineno)


def _of_configurator(tree: ast.Module, calls: Sequence[ast.Call]) -> Iterator[_Found]:
    """Variables of a script that executes another one which sets them from the command line."""
    if not any(word(call) == "exec" for call in calls):
        return
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            name = ast.unparse(node.targets[0])
            is_truth = isinstance(node.value.value, bool)
            value = "True" if is_truth else _compared(name, {"": tree}) or "value"
            yield _Found(name=f"--{name}=", form=value, line=node.lineno)


def _is_read(found: _Found, trees: Trees) -> bool:
    """Whether what an option holds is handed to something that reads or trains."""
    if found.form not in ("value", "true", "flag"):
        return True
    attribute = found.name.strip("-=").replace("-", "_").rpartition(".")[2]
    for tree in trees.values():
        for call in within([tree], ast.Call):
            if any(name in word(call).lower() for name in _READS):
                nodes = within([*call.args, *(one.value for one in call.keywords)], ast.expr)
                if any(_last(node) == attribute for node in nodes):
                    return True
    return False
