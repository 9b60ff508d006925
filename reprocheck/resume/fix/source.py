"""Find where a script saves what it goes on with, and where it loads it again.

By the functions that were under way there, in whatever files they are.

A script is understood that saves one dict and assigns what the loader returns; of any other nothing
is said.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reprocheck.resume.checkpoint_contents import Archive, Frame
from reprocheck.resume.fix.script import Made, Scope, Script
from reprocheck.resume.gap.archive import words_of
from reprocheck.resume.gap.source import place_of
from reprocheck.scan.index import last_line, within
from reprocheck.scan.syntax import word

_SAVERS = ("save", "dump", "async_save", "save_file")
_SAVED = ("obj", "state_dict", "tensors", "value")
"""Keywords of what is saved."""

_NONE = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


@dataclass(frozen=True, kw_only=True, slots=True)
class Spot:
    """A function of the user's that was executing.

    Its file, its line, and its names for parts of the training.
    """

    file: str
    line: int
    script: Script
    names: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The places in a script that save and load the checkpoint.

    saved            the dict that is saved, or the expression that makes it
    inner            the dict that a function of the script returns to be saved; None if it is none
    keys             all keys of the checkpoint, including those of dicts merged into the saved one
    handed           the function that is handed the dict; None if the function that makes the dict
                     saves it
    held             the saved values by their dictionary keys
    load             the assignment of the loaded checkpoint
    behind           the last statement that loads a part of the checkpoint
    saving, loading  the functions that save and load the checkpoint
    training         the functions executing while the training goes on, from the innermost out
    """

    saved: ast.expr
    inner: ast.Dict | None
    keys: frozenset[str]
    handed: Scope | None
    held: Mapping[str, ast.expr]
    load: Made
    behind: ast.stmt
    saving: Spot
    loading: Spot
    training: Sequence[Spot]

    @property
    def script(self) -> Script:
        """The file that saves."""
        return self.saving.script

    @property
    def is_single(self) -> bool:
        """Return whether the same file saves and loads the checkpoint."""
        return self.saving.file == self.loading.file

    @property
    def seeds_behind(self) -> bool:
        """Return whether a seed is set after the checkpoint is loaded, in the same function."""
        script, line = self.loading.script, self.load.statement.lineno
        scope = script.scope(self.load.statement)
        calls = (one for one in script.index.calls if one.lineno > line and "seed" in word(one))
        return any(script.scope(one) is scope for one in calls)

    @property
    def loaded(self) -> str:
        """The name of the variable that holds the loaded checkpoint."""
        return self.load.name

    @property
    def is_moved(self) -> bool:
        """Return whether tensors may be loaded to a device."""
        return "map_location=" in ast.unparse(self.load.call)

    def saved_as(self, value: str, otherwise: str) -> str:
        """Return the dictionary key under which a value is saved already; else a free key."""
        texts = {ast.unparse(held): key for key, held in self.held.items()}
        return texts.get(value) or _free(otherwise, self.held)

    def fresh_name(self, wanted: str) -> str:
        """Return a name that the script does not use."""
        return _free(wanted, dict.fromkeys(self.script.words))


def _free(wanted: str, taken: Mapping[str, object]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted


def read(archive: Archive, texts: Mapping[str, str]) -> Source | None:
    """Return the places that save and load in a script with these texts.

    None for another kind of script.
    """
    try:
        scripts = {file: Script(text) for file, text in texts.items()}
    except (SyntaxError, ValueError, RecursionError):
        return None
    saving = _saved(_spots(archive.saving, scripts))
    loading = _load(_spots(archive.reading, scripts))
    if saving is None or loading is None:
        return None
    (saver, saved, handed), (loader, load) = saving, loading
    held: dict[str, ast.expr] = {}
    if isinstance(saved, ast.Dict):
        names = [str(getattr(key, "value", "")) for key in saved.keys]
        held = dict(zip(names, saved.values, strict=True))
    keys = frozenset(words_of(entry.key)[0] for entry in archive.entries)
    if not held and not keys - {""}:  # weights alone, which have no room for anything else
        return None
    return Source(
        saved=saved,
        inner=_returned_dict(saver.script, word(saved)),
        keys=keys | held.keys(),
        handed=handed,
        held=held,
        load=load,
        behind=_behind(loader.script, load),
        saving=saver,
        loading=loader,
        training=_spots(archive.training, scripts),
    )


def _load(spots: Sequence[Spot]) -> tuple[Spot, Made] | None:
    """Return the assignment of the loaded checkpoint: by the loader itself, or by what calls it."""
    for spot in spots:
        for made in spot.script.made:
            if made.statement.lineno <= spot.line <= last_line(made.statement):
                return spot, made
    return None


def _returned_dict(script: Script, function: str) -> ast.Dict | None:
    """Return the dict that a function returns; None unless it returns at one place, and a dict."""
    makers = [one for one in script.index.functions if one.name == function]
    returns = [one.value for maker in makers for one in within(maker, ast.Return)]
    match returns:
        case [ast.Dict(values=[_, *_]) as only]:
            return only
    return None


def _spots(frames: Sequence[Frame], scripts: Mapping[str, Script]) -> list[Spot]:
    found = []
    for frame in frames:
        file, line = place_of(frame.line)
        if file in scripts:
            found.append(Spot(file=file, line=line, script=scripts[file], names=frame.names))
    return found


def _saved(spots: Sequence[Spot]) -> tuple[Spot, ast.expr, Scope | None] | None:
    """Return the dict that is saved, or the expression that makes it, with its function.

    The function calls the saver, or hands on the dict, which is returned, too.
    """
    wanted: ast.expr | None = None
    scope: Scope | None = None
    for number, spot in enumerate(spots):
        if not number:
            saver = next((one for one in _calls_on(spot) if word(one) in _SAVERS), None)
            if saver is not None:
                named = (one.value for one in saver.keywords if one.arg in _SAVED)
                wanted = saver.args[0] if saver.args else next(named, None)
        found, parameter = _dict(spot.script, wanted)
        if found is not None:
            return spot, found, scope
        if wanted is None:
            return None
        inner, scope = scope, spot.script.scope(wanted)
        is_parameter = parameter in {one.arg for one in getattr(scope, "args", _NONE).args}
        if not is_parameter or number + 1 >= len(spots):
            return spot, wanted, inner
        outer = spots[number + 1]
        name = getattr(scope, "name", "")
        here = [one for one in _calls_on(outer) if word(one) == name]
        wanted = _argument(scope, here[0], parameter) if here else None
    return None


def _calls_on(spot: Spot) -> list[ast.Call]:
    """Return the calls that the line of a function is part of."""
    calls = spot.script.index.calls
    return [one for one in calls if one.lineno <= spot.line <= (one.end_lineno or 0)]


def _dict(script: Script, given: ast.expr | None) -> tuple[ast.Dict | None, str]:
    """Return the dict that an expression stands for; else the name, maybe of a parameter.

    A dict is known if it is a literal or was last assigned to the name above.
    """
    if isinstance(given, ast.Dict):
        return given, ""
    if not isinstance(given, ast.Name):
        return None, ""
    scope = script.scope(given)
    above = [
        one.value
        for one in script.index.of(ast.Assign)
        if last_line(one) < given.lineno and script.scope(one) is scope
        if ast.unparse(one.targets[0]) == given.id and isinstance(one.value, ast.Dict)
    ]
    return (above[-1], "") if above else (None, given.id)


def _argument(scope: Scope, call: ast.Call, name: str) -> ast.expr | None:
    """Return the argument that a call passes to a parameter."""
    if isinstance(scope, ast.Module):
        return None
    names = [one.arg for one in scope.args.args if one.arg != "self"]
    by_place = dict(zip(names, call.args, strict=False))
    return by_place.get(name, next((one.value for one in call.keywords if one.arg == name), None))


def _behind(script: Script, load: Made) -> ast.stmt:
    """Return the last statement that loads a part of the checkpoint, else the assignment."""
    around = list(script.around(load.statement))
    beside = [one for one in script.index.of(ast.Expr) if script.holder(one) in around]
    texts = {ast.unparse(one): one for one in beside}
    part = f"{load.name}["
    loading = [one for text, one in texts.items() if ".load_state_dict" in text and part in text]
    return max(loading, key=last_line, default=load.statement)
