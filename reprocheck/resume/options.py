"""Find the option by which a script is told to resume, in its source.

Of argparse, click, typer, absl, fire, classes of arguments, Hydra and OmegaConf, plain `sys.argv`,
and variables that a configurator sets.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from reprocheck.model import SourceLine
from reprocheck.resume.model import Option
from reprocheck.resume.request import CHECKPOINT
from reprocheck.scan.index import within
from reprocheck.scan.syntax import word

Trees = Mapping[str, ast.Module]
_NAMES: Sequence[Sequence[str]] = (
    ("resume",),
    ("continue", "restart"),
    ("restore",),
    ("ckpt_path", "from_checkpoint", "load_checkpoint", "load_ckpt", "init_from", "load_from"),
    ("checkpoint_path", "load_path", "load", "checkpoint", "ckpt", "load_folder"),
)
"""What stands in the name of such an option, the surest first; the last are whole names, and only
where the script reads what they hold.
"""
_OTHERS = frozenset(
    (
        "every", "freq", "frequency", "interval", "dir", "folder", "save", "keep", "num", "best",
        "only", "grad", "gradient", "activation", "pretrained", "strategy", "wandb", "id", "no",
        "skip", "limit", "data", "model", "checkpointing", "epochs", "steps",
    )
)  # fmt: skip
"""Words in names of other options."""
_READS = ("load", "restore", "resume", "read", "fit", "train", "run", "exists")
"""Functions that an option is given to which names a checkpoint."""
_ASKED = ("resume", "auto", "latest", "last")
"""Values that ask for a resume."""
_PARSERS = ("HfArgumentParser", "tyro", "simple_parsing", "draccus", "pyrallis", "jsonargparse")
_VALUE, _FLAG, _TRUE = "value", "flag", "true"
"""What an option takes: a path, nothing, or a truth; anything else is the value itself."""
_LEAST_SURE = len(_NAMES) - 1


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An option as typed (`--resume`, `resume=`), the kind of its value, and its line."""

    name: str
    form: str
    line: int

    @property
    def plain(self) -> str:
        """The name without dashes: `resume_from` of `--resume-from`."""
        return self.name.strip("-=").replace("-", "_").lower()

    @property
    def rank(self) -> int | None:
        """Return how surely the name of the option says that it resumes; None if it does not."""
        for rank, names in enumerate(_NAMES):
            if self.plain in names:
                return rank
            is_within = any(name in self.plain for name in names)
            if is_within and rank < _LEAST_SURE:
                return None if _OTHERS.intersection(self.plain.split("_")) else rank
        return None

    @property
    def words(self) -> str:
        """Return the words to add to the command for this option."""
        if self.form == _FLAG:
            return self.name
        value = CHECKPOINT if self.form == _VALUE else self.form
        return f"{self.name}{'' if self.name.endswith('=') else ' '}{value}"


def option_of(trees: Trees, given: Sequence[str]) -> Option | None:
    """Return the option that tells a script to resume, if its source has one.

    given  the words of its command, which may have the option already
    """
    ranked: list[tuple[int, Option]] = []
    source = " ".join(map(ast.unparse, trees.values()))
    for file, tree in trees.items():
        for candidate in _candidates(tree, trees, source):
            rank = candidate.rank
            if rank is None or any(word.startswith(candidate.name) for word in given):
                continue
            if rank == _LEAST_SURE and not _is_read(candidate, trees):
                continue
            line = SourceLine(file=file, line=candidate.line)
            ranked.append((rank, Option(words=candidate.words, source=line)))
    return min(ranked, key=lambda one: one[0], default=(0, None))[1]


def _candidates(tree: ast.Module, trees: Trees, source: str) -> Iterator[_Candidate]:
    calls = list(within([tree], ast.Call))
    for call in calls:
        yield from _of_call(call, trees)
    yield from _of_typer(tree)
    yield from _of_classes(tree, source)
    yield from _of_hydra(tree)
    yield from _of_argv(tree, source)
    if any(word(call) == "exec" for call in calls):
        yield from _of_configurator(tree)


def _of_call(call: ast.Call, trees: Trees) -> Iterator[_Candidate]:
    name, texts = word(call), _texts(call.args)
    if name in ("add_argument", "add_option", "option", "Option"):
        longest = max((text for text in texts if text.startswith("-")), key=len, default="")
        form = _taken(call, trees, longest)
        if longest and form:
            yield _Candidate(longest.partition("/")[0], form, call.lineno)
    elif name.startswith("DEFINE_") and texts and "int" not in name:
        yield _Candidate(f"--{texts[0]}", _FLAG if "bool" in name else _VALUE, call.lineno)
    elif name == "LightningCLI":
        yield _Candidate("--ckpt_path", _VALUE, call.lineno)
    elif name == "Fire":
        for function in within([*trees.values()], ast.FunctionDef):
            if not call.args or ast.unparse(call.args[0]) == function.name:
                yield from _parameters(function)


def _texts(nodes: Sequence[ast.expr]) -> list[str]:
    values = (one.value for one in nodes if isinstance(one, ast.Constant))
    return [value for value in values if isinstance(value, str)]


def _taken(call: ast.Call, trees: Trees, name: str) -> str:
    """Return the kind of value that an option of argparse, click or typer takes.

    "" for a number.
    """
    keywords = {str(one.arg): ast.unparse(one.value) for one in call.keywords}
    action, kind = keywords.get("action", ""), keywords.get("type", "")
    is_flag = "/" in name or keywords.get("is_flag") == "True" or "const" in keywords
    if is_flag or "store_true" in action or "Boolean" in action:
        return _FLAG
    if kind in ("int", "float"):
        return ""
    if "bool" in kind:
        return _TRUE
    choices = next((one.value for one in call.keywords if one.arg == "choices"), None)
    for text in _texts(getattr(choices, "elts", [])):
        if text in _ASKED:
            return text
    return _compared(name, trees) or _VALUE


def _compared(name: str, trees: Trees) -> str:
    """Return a value that asks for a resume and that an option is compared with, if any."""
    plain = name.strip("-=").replace("-", "_")
    for node in within([*trees.values()], ast.Compare):
        values = [text for text in _texts(node.comparators) if text in _ASKED]
        if values and _last(node.left) == plain:
            return values[0]
    return ""


def _last(node: ast.expr) -> str:
    """Return the last name of an expression: `resume` of `args.resume` and `cfg["resume"]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return getattr(node, "attr", getattr(node, "id", ""))


def _parameters(function: ast.FunctionDef, dash: str = "_") -> Iterator[_Candidate]:
    """Yield the parameters of a function that have a default, as options."""
    arguments = function.args
    with_default = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    pairs = zip(with_default, arguments.defaults, strict=True)
    of_keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    for parameter, default in chain(pairs, of_keywords):
        form = _FLAG if _is_truth(default, parameter.annotation) else _VALUE
        yield _Candidate(f"--{parameter.arg.replace('_', dash)}", form, parameter.lineno)


def _is_truth(default: ast.expr | None, kind: ast.expr | None) -> bool:
    value = default.value if isinstance(default, ast.Constant) else None
    return isinstance(value, bool) or (kind is not None and ast.unparse(kind) == "bool")


def _of_typer(tree: ast.Module) -> Iterator[_Candidate]:
    runs = [call for call in within([tree], ast.Call) if ast.unparse(call.func) == "typer.run"]
    started = {ast.unparse(argument) for call in runs for argument in call.args}
    for function in within([tree], ast.FunctionDef):
        decorators = " ".join(map(ast.unparse, function.decorator_list))
        is_command = ".command" in decorators and "click" not in decorators
        if is_command or function.name in started:
            yield from _parameters(function, "-")


def _of_classes(tree: ast.Module, source: str) -> Iterator[_Candidate]:
    """Yield fields of dataclasses, if a library makes command line options of them.

    source  all files of the script
    """
    if not any(name in source for name in _PARSERS):
        return
    dash, truth = ("-", _FLAG) if "tyro" in source else ("_", "True")
    for node in within([tree], ast.AnnAssign):
        if isinstance(node.target, ast.Name):
            form = truth if _is_truth(node.value, node.annotation) else _VALUE
            yield _Candidate(f"--{node.target.id.replace('_', dash)}", form, node.lineno)
    if "HfArgumentParser" in source:  # a field of `TrainingArguments` that the library leaves alone
        for one in within([tree], ast.Attribute):
            if one.attr == "resume_from_checkpoint":
                yield _Candidate(f"--{one.attr}", _VALUE, one.lineno)


def _of_hydra(tree: ast.Module) -> Iterator[_Candidate]:
    """Yield the keys that a script asks its configuration for.

    Only if Hydra or OmegaConf reads the command line into the configuration.
    """
    holders = _configurations(tree)
    if not holders:
        return
    tests = [ast.unparse(one.test) for one in within([tree], ast.If)]
    attributes = [(one.lineno, ast.unparse(one)) for one in within([tree], ast.Attribute)]
    uses = Counter(text for _, text in attributes)
    for line, text in attributes:
        root, _, path = text.partition(".")
        if root not in holders or not path.replace(".", "").isidentifier():
            continue
        is_only_tested = sum(text in test for test in tests) >= uses[text]
        yield _Candidate(f"{path}=", _TRUE if is_only_tested else _VALUE, line)


def _configurations(tree: ast.Module) -> set[str]:
    """Return the variables that hold a configuration made by Hydra or OmegaConf."""
    names: set[str] = set()
    for function in within([tree], ast.FunctionDef):
        if "hydra.main" in " ".join(map(ast.unparse, function.decorator_list)):
            names.update(one.arg for one in function.args.args[:1])
    for assignment in within([tree], ast.Assign):
        value = ast.unparse(assignment.value)
        if "OmegaConf.merge(" in value or "OmegaConf.from_cli(" in value:
            names.add(ast.unparse(assignment.targets[0]))
    return names


def _of_argv(tree: ast.Module, source: str) -> Iterator[_Candidate]:
    """Yield options read from `sys.argv`: `"--resume" in sys.argv`, `sys.argv[1] == "resume"`."""
    for node in within([tree], ast.Compare):
        if "argv" not in ast.unparse(node):
            continue
        for text in _texts([node.left, *node.comparators]):
            # `sys.argv[sys.argv.index("--resume") + 1]`
            form = _VALUE if f".index({text!r}) + 1" in source else _FLAG
            yield _Candidate(text, form, node.lineno)


def _of_configurator(tree: ast.Module) -> Iterator[_Candidate]:
    """Yield variables of a script that executes a configurator.

    That is another script which sets them from the command line.
    """
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            name = ast.unparse(node.targets[0])
            form = "True"
            if not isinstance(node.value.value, bool):
                form = _compared(name, {"": tree}) or _VALUE
            yield _Candidate(f"--{name}=", form, node.lineno)


def _is_read(candidate: _Candidate, trees: Trees) -> bool:
    """Return whether the value of an option is passed to something that reads files or trains."""
    variable = candidate.plain.rpartition(".")[2]
    for call in within([*trees.values()], ast.Call):
        if any(name in word(call).lower() for name in _READS):
            arguments = [*call.args, *(one.value for one in call.keywords)]
            if any(_last(node) == variable for node in within(arguments, ast.expr)):
                return True
    return False
