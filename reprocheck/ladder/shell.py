"""Where a shell script or a Makefile makes the value that it gives to a training.

Simple assignments are followed, and values that are written out.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
SHELLS = (".sh", ".bash", ".ksh", ".zsh")
_INTERPRETERS = ("sh", "bash", "dash", "ksh", "zsh")
_DEEPEST = 4
"""Assignments followed one behind the other."""
_MOST_FILES = 20
_OTHER_SCRIPT = re.compile(rf"[\w./-]+(?:{'|'.join(map(re.escape, SHELLS))})(?![\w.])")
_CALLS_MAKE = re.compile(r"(?:^|[\s;&|])g?make(?=$|[\s;&|])")
_CHANGES = re.compile(
    r"\b(?:S?RANDOM|EPOCHSECONDS|EPOCHREALTIME|BASHPID|PPID|SECONDS)\b|\$\$"
    r"|\b(?:date|uuidgen|mktemp|shuf|urandom|random|rand|time|time_ns|getpid|uuid\d?|hexdump)\b"
)
"""What is another value at each start."""
_NAME = re.compile(r"\$(?:\{(\w+)[^}]*\}|\((\w+)\)|(\w+))")
"""The name of a variable where it is used, `$(NAME)` in a Makefile."""
_IN_ARITHMETIC = re.compile(r"\b[A-Za-z_]\w*")
_DEFAULT = re.compile(r"\$\{\w+:?[-=]")
"""The beginning of `${SEED:-$RANDOM}`, up to what stands in for a variable that is not set."""
_TARGET = re.compile(r"(?m)^([\w./ -]+?)\s*::?(?![=:])")
_ENDS = " \t\n;&|)<>"


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A text that a shell or make executes; `name` is "" for one in the command itself."""

    name: str
    text: str
    makefile: bool = False

    def line(self, at: int) -> int:
        """The line in which a place of the text lies."""
        return self.text.count("\n", 0, at) + 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What gives a value that is another one at each start.

    file, line   where; no file for a text that stands in the command itself
    by           what stands there: `$RANDOM`
    fixed        the line with a fixed value in its place
    """

    file: str
    line: int
    by: str
    fixed: str


@dataclass(frozen=True, slots=True)
class _Value:
    """What stands behind a name: its text, and where that begins in the script."""

    script: Script
    at: int
    text: str


def scripts(command: Sequence[str], read: Callable[[str], str | None]) -> list[Script]:
    """The scripts that a command executes, and those that they name.

    `read` gives the text of a file, None where there is none.
    """
    found: dict[str, Script] = {}
    waiting = [*_named(command)]
    inline = [word for option, word in pairwise(command) if option in ("-c", "-lc", "-ec")]
    is_shell = bool(command) and posixpath.basename(command[0]) in _INTERPRETERS
    own = [Script(name="", text=text) for text in inline if is_shell]
    for script in own:
        waiting += _mentioned(script.text)
    while waiting and len(found) < _MOST_FILES:
        name = posixpath.normpath(waiting.pop(0))
        text = read(name) if name not in found else None
        if text is not None:
            found[name] = Script(name=name, text=text, makefile=_is_makefile(name))
            waiting += _mentioned(text)
    return [*own, *found.values()]


def _named(command: Sequence[str]) -> Iterator[str]:
    """The files of a command that may be scripts."""
    if command and posixpath.basename(command[0]) in ("make", "gmake"):
        yield from (word for option, word in pairwise(command) if option == "-f")
        yield from MAKEFILES
    yield from (word for word in command if word.endswith(SHELLS))
    if command and "/" in command[0]:
        yield command[0]


def _mentioned(text: str) -> Iterator[str]:
    """The scripts that a text names, and the Makefile where it calls make."""
    yield from _OTHER_SCRIPT.findall(text)
    if _CALLS_MAKE.search(text):
        yield from MAKEFILES


def _is_makefile(name: str) -> bool:
    return posixpath.basename(name) in MAKEFILES or name.endswith(".mk")


def made(
    command: Sequence[str],
    read: Callable[[str], str | None],
    name: str,
    value: str,
    *,
    variable: bool = False,
) -> Made | None:
    """What makes the value of an argument such as `--seed`, or of an environment variable.

    None where the scripts do not show it. `value`: what it was in the first run.
    """
    found = scripts(command, read)
    places = _assigned if variable else _passed
    uses = [one for script in found for one in places(script, name)]
    for use in [one for one in reversed(uses) if _is_made(one, command)] or reversed(uses):
        origin = _origin(found, use, value, _DEEPEST)
        if origin is not None:
            return origin
    return None


def _is_made(use: _Value, command: Sequence[str]) -> bool:
    """Whether a place is not below a target of a Makefile that the command does not name."""
    if not use.script.makefile:
        return True
    above = [match for match in _TARGET.finditer(use.script.text) if match.start() < use.at]
    return not above or any(target in command for target in above[-1].group(1).split())


# ---------------------------------------------------------------------------------------- following


def _origin(found: Sequence[Script], use: _Value, value: str, depth: int) -> Made | None:
    """The part of a value that changes, in the value itself or in a variable that it names."""
    changing = _changing(use)
    if changing is not None:
        return _made(use, *changing, value)
    if depth == 0:
        return None
    for name in _names(use):
        values = [one for script in found for one in _assigned(script, name)]
        for assigned in _nearest_first(values, use):
            origin = _origin(found, assigned, value, depth - 1)
            if origin is not None:
                return origin
    return None


def _changing(use: _Value) -> tuple[int, str] | None:
    """The first part of a value that changes, with its place, and those that follow it at once."""
    parts = list(_parts(use.text, use.script.makefile))
    first = next((number for number, (_, part) in enumerate(parts) if _CHANGES.search(part)), None)
    if first is None:
        return None
    at, part = parts[first]
    default = _DEFAULT.match(part)
    if default is not None:
        inner = _changing(_Value(use.script, use.at + at + default.end(), part[default.end() : -1]))
        return (at + default.end() + inner[0], inner[1]) if inner is not None else (at, part)
    for behind, more in parts[first + 1 :]:
        if behind != at + len(part) or not _CHANGES.search(more):
            break
        part += more
    return at, part


def _names(use: _Value) -> list[str]:
    """The variables that a value names, those of arithmetic too."""
    found = [next(filter(None, match.groups())) for match in _NAME.finditer(use.text)]
    for _, part in _parts(use.text, use.script.makefile):
        found += _IN_ARITHMETIC.findall(part) if part.startswith("$((") else []
    return list(dict.fromkeys(found))


def _nearest_first(assigned: Sequence[_Value], use: _Value) -> list[_Value]:
    """Those of the same script before the use, the last first; then those of other scripts."""
    before = [one for one in assigned if one.script is use.script and one.at < use.at]
    others = [one for one in assigned if one.script is not use.script]
    return [*reversed(before), *reversed(others)]


def _made(use: _Value, at: int, part: str, value: str) -> Made:
    script, start = use.script, use.at + at
    whole = use.text.strip().strip("\"'") == part
    fixed = value if whole and re.fullmatch(r"[\w.+:-]+", value) else "0"
    text = f"{script.text[:start]}{fixed}{script.text[start + len(part) :]}"
    line = text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0]
    return Made(file=script.name, line=script.line(start), by=part, fixed=line.strip())


# -------------------------------------------------------------------------------------------- texts


def _passed(script: Script, name: str) -> Iterator[_Value]:
    """The values of an argument in the commands of a script."""
    text = _joined(script.text)
    for match in re.finditer(rf"(?<![\w-]){re.escape(name)}(?:=|[ \t]+)", text):
        if not _is_comment(text, match.start()):
            yield _Value(script, match.end(), _word(text, match.end()))


def _assigned(script: Script, name: str) -> Iterator[_Value]:
    """What a script assigns to a variable.

    `NAME=value`, also behind `export` or before a command, and `NAME := value` in a Makefile.
    """
    text = _joined(script.text)
    spaces = r"[ \t]*[:?+!]{0,3}=[ \t]*" if script.makefile else r"\+?="
    for match in re.finditer(rf"(?<![\w$-]){re.escape(name)}{spaces}", text):
        if _is_comment(text, match.start()):
            continue
        begins = text.rfind("\n", 0, match.start()) + 1
        own_line = script.makefile and not text.startswith("\t", begins)
        value = text[match.end() :].partition("\n")[0] if own_line else _word(text, match.end())
        yield _Value(script, match.end(), value)


def _joined(text: str) -> str:
    """A text whose lines that go on are one, every character where it was."""
    return text.replace("\\\n", "  ")


def _is_comment(text: str, at: int) -> bool:
    return text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith("#")


def _word(text: str, at: int) -> str:
    """The word of a command that begins there; quotation marks, `$(...)` and backticks hold
    spaces.
    """
    end, quote = at, ""
    while end < len(text):
        one = text[end]
        if one == "$" and text[end + 1 : end + 2] in ("(", "{"):
            end = _closed(text, end + 1)
            continue
        if quote:
            quote = "" if one == quote else quote
        elif one in "\"'`":
            quote = one
        elif one in _ENDS:
            break
        end += 1
    return text[at:end]


def _closed(text: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`; the end where none does."""
    opening = text[at]
    closing = {"(": ")", "{": "}"}[opening]
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == opening) - (text[end] == closing)
        if depth == 0:
            return end + 1
    return len(text)


def _parts(value: str, makefile: bool) -> Iterator[tuple[int, str]]:
    """The outermost parts of a value that the shell replaces, each with its place.

    Bare words of arithmetic such as RANDOM are among them.
    """
    at = 0
    while at < len(value):
        end = _part_end(value, at, makefile)
        if end > at:
            yield at, value[at:end]
        at = max(end, at + 1)


def _part_end(value: str, at: int, makefile: bool) -> int:
    """Where the part that begins there ends; `at` itself where none begins."""
    dollars = "$$" if makefile and value.startswith("$$", at) else "$"
    if value.startswith(dollars, at):
        behind = at + len(dollars)
        if value[behind : behind + 1] in ("(", "{"):
            return _closed(value, behind)
        match = re.compile(r"\$+|\w+").match(value, behind)
        return match.end() if match else behind
    if value[at] == "`":
        closing = value.find("`", at + 1)
        return len(value) if closing < 0 else closing + 1
    match = re.compile(r"S?RANDOM\b").match(value, at)
    return match.end() if match and not value[at - 1 : at].isalnum() else at
