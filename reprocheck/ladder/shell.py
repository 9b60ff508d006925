"""Where a shell script or a Makefile makes the value that it gives to a training.

Simple assignments are followed, and values that are written out.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, dropwhile, pairwise, takewhile

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
SHELLS = (".sh", ".bash", ".ksh", ".zsh")
_DEEPEST = 4
"""Assignments followed one behind the other."""
_MOST_FILES = 20
_OTHER_SCRIPT = re.compile(rf"[\w./-]+(?:{'|'.join(map(re.escape, SHELLS))})(?![\w.])")
_CALLS_MAKE = re.compile(r"(?:^|[\s;&|])g?make(?=$|[\s;&|])")
_OF_SHELL = ("RANDOM", "SRANDOM", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "PPID", "SECONDS")
"""Variables of a shell that are another value at each start."""
_OF_PROGRAMS = (
    "date",
    "uuidgen",
    "mktemp",
    "shuf",
    "hexdump",
    "urandom",
    "random",
    "rand",
    "time",
    "time_ns",
    "getpid",
    "uuid",
    r"uuid\d",
)
"""Likewise what programs give, or text that awk, Perl or Python executes on the command line."""
_CHANGES = re.compile(rf"\b(?:{'|'.join((*_OF_SHELL, *_OF_PROGRAMS))})\b|\$\$")
"""What is another value at each start; `$$` is the number of the process."""
_NAME = re.compile(r"\$(?:\{(\w+)[^}]*\}|\((\w+)\)|(\w+))")
"""The name of a variable where it is used, `$(NAME)` in a Makefile."""
_IN_ARITHMETIC = re.compile(r"\b[A-Za-z_]\w*")
_DEFAULT = re.compile(r"\$\{\w+:?[-=]")
"""The beginning of `${SEED:-$RANDOM}`, up to what stands in for a variable that is not set."""
_TARGET = re.compile(r"(?m)^([\w./ -]+?)\s*::?(?![=:])")
_CLOSING = {
    "(": ")",
    "{": "}",
}
_OPENINGS = tuple(f"${bracket}" for bracket in _CLOSING)
_PLAIN_VALUE = re.compile(r"[\w.+:-]+")
"""A value that needs no quotation marks."""
_SPECIAL = re.compile(r"\$+|\w+")
_BARE = re.compile(r"(?<![^\W_])S?RANDOM\b")
"""A variable of the shell as a word of arithmetic."""


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
    program = posixpath.basename(next(iter(command), ""))
    own: list[Script] = []
    if program in ("sh", "bash", "dash", "ksh", "zsh"):
        words = pairwise(command)
        inline = ("-c", "-lc", "-ec")
        own = [Script(name="", text=word) for option, word in words if option in inline]
    found: dict[str, Script] = {}
    waiting = [*_named(command), *chain.from_iterable(_mentioned(one.text) for one in own)]
    while waiting and len(found) < _MOST_FILES:
        name = posixpath.normpath(waiting.pop(0))
        if name in found:
            continue
        text = read(name)
        if text is not None:
            makefile = posixpath.basename(name) in MAKEFILES or name.endswith(".mk")
            found[name] = Script(name=name, text=text, makefile=makefile)
            waiting += _mentioned(text)
    return [*own, *found.values()]


def _named(command: Sequence[str]) -> Iterator[str]:
    """The files of a command that may be scripts."""
    program = next(iter(command), "")
    if posixpath.basename(program) in ("make", "gmake"):
        yield from (word for option, word in pairwise(command) if option == "-f")
        yield from MAKEFILES
    yield from (word for word in command if word.endswith(SHELLS))
    if "/" in program:
        yield program


def _mentioned(text: str) -> Iterator[str]:
    """The scripts that a text names, and the Makefile where it calls make."""
    yield from _OTHER_SCRIPT.findall(text)
    if _CALLS_MAKE.search(text):
        yield from MAKEFILES


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
    places = {True: _assigned, False: _passed}[variable]
    uses = [one for script in reversed(found) for one in reversed(list(places(script, name)))]
    # what the command makes tells more than the other targets of a Makefile
    uses = [one for one in uses if _is_made(one, command)] or uses
    return _first_origin(found, uses, value, _DEEPEST)


def _is_made(use: _Value, command: Sequence[str]) -> bool:
    """Whether a place is not below a target of a Makefile that the command does not name."""
    if not use.script.makefile:
        return True
    targets = [match for match in _TARGET.finditer(use.script.text) if match.start() < use.at]
    return not targets or not set(command).isdisjoint(targets[-1].group(1).split())


# ---------------------------------------------------------------------------------------- following


def _first_origin(
    found: Sequence[Script], uses: Iterable[_Value], value: str, depth: int
) -> Made | None:
    """The first that can be followed to something that changes."""
    origins = (_origin(found, use, value, depth) for use in uses)
    return next(filter(None, origins), None)


def _origin(found: Sequence[Script], use: _Value, value: str, depth: int) -> Made | None:
    """The part of a value that changes, in the value itself or in a variable that it names."""
    changing = _changing(use)
    if changing is not None:
        return _made(use, *changing, value)
    if depth == 0:
        return None
    assigned = (_nearest_first(found, name, use) for name in _names(use))
    return _first_origin(found, chain.from_iterable(assigned), value, depth - 1)


def _changing(use: _Value) -> tuple[int, str] | None:
    """The first part of a value that changes, with its place, and those that follow it at once."""
    parts = list(dropwhile(lambda part: not _changes(part), _parts(use.text, use.script.makefile)))
    if not parts:
        return None
    at, part = parts.pop(0)
    default = _DEFAULT.match(part)
    if default is not None:
        return _changing_default(use, at, part, default.end()) or (at, part)
    for behind, more in takewhile(_changes, parts):
        if behind != at + len(part):
            break
        part += more
    return at, part


def _changes(part: tuple[int, str]) -> bool:
    """Whether a part of a value, which stands behind its place, is another one at each start."""
    return _CHANGES.search(part[1]) is not None


def _changing_default(use: _Value, at: int, part: str, begin: int) -> tuple[int, str] | None:
    """What changes in the value that stands in for a variable that is not set."""
    inner = _changing(_Value(use.script, use.at + at + begin, part[begin:-1]))
    if inner is None:
        return None
    return at + begin + inner[0], inner[1]


def _names(use: _Value) -> list[str]:
    """The variables that a value names, those of arithmetic too."""
    found = [next(filter(None, match.groups())) for match in _NAME.finditer(use.text)]
    parts = _parts(use.text, use.script.makefile)
    arithmetic = (part for _, part in parts if part.startswith("$(("))
    found += chain.from_iterable(map(_IN_ARITHMETIC.findall, arithmetic))
    return list(dict.fromkeys(found))


def _nearest_first(found: Sequence[Script], name: str, use: _Value) -> list[_Value]:
    """What the scripts assign to a variable: in the script of the use before it, the last first;
    then in other scripts.
    """
    assigned = list(chain.from_iterable(_assigned(script, name) for script in found))
    assigned.reverse()
    in_time = [one for one in assigned if one.script is not use.script or one.at < use.at]
    return sorted(in_time, key=lambda one: one.script is not use.script)


def _made(use: _Value, at: int, part: str, value: str) -> Made:
    script, start = use.script, use.at + at
    fixed = "0"
    whole = use.text.strip().strip("\"'") == part
    if whole and _PLAIN_VALUE.fullmatch(value):
        fixed = value
    text = f"{script.text[:start]}{fixed}{script.text[start + len(part) :]}"
    line = text[text.rfind("\n", 0, start) + 1 :].partition("\n")[0]
    return Made(file=script.name, line=script.line(start), by=part, fixed=line.strip())


# -------------------------------------------------------------------------------------------- texts


def _passed(script: Script, name: str) -> Iterator[_Value]:
    """The values of an argument in the commands of a script."""
    text = _joined(script.text)
    for end in _ends_in(text, rf"(?<![\w-]){re.escape(name)}(?:=|[ \t]+)"):
        yield _Value(script, end, _word(text, end))


def _assigned(script: Script, name: str) -> Iterator[_Value]:
    """What a script assigns to a variable.

    `NAME=value`, also behind `export` or before a command, and `NAME := value` in a Makefile.
    """
    text = _joined(script.text)
    sign = {True: r"[ \t]*[:?+!]{0,3}=[ \t]*", False: r"\+?="}[script.makefile]
    for end in _ends_in(text, rf"(?<![\w$-]){re.escape(name)}{sign}"):
        begins = text.rfind("\n", 0, end) + 1
        value = _word(text, end)
        # outside of a recipe the rest of the line is the value
        if script.makefile and not text.startswith("\t", begins):
            value = text[end:].partition("\n")[0]
        yield _Value(script, end, value)


def _ends_in(text: str, pattern: str) -> Iterator[int]:
    """Where each match of a pattern ends, but for those in comments."""
    matches = re.finditer(pattern, text)
    return (match.end() for match in matches if not _is_comment(text, match.start()))


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
        if text.startswith(_OPENINGS, end):
            end = _closed(text, end + 1)
            continue
        if one == quote:
            quote = ""
        elif quote == "" and one in "\"'`":
            quote = one
        elif quote == "" and one in " \t\n;&|)<>":
            break
        end += 1
    return text[at:end]


def _closed(text: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`; the end where none does."""
    opening = text[at]
    steps = {opening: 1, _CLOSING[opening]: -1}
    depth = 0
    for end in range(at, len(text)):
        depth += steps.get(text[end], 0)
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
    dollars = "$"
    if makefile and value.startswith("$$", at):
        dollars = "$$"
    if value.startswith(dollars, at):
        return _variable_end(value, at + len(dollars))
    if value[at] == "`":
        # the place behind the other one; 0 where there is none
        behind = value.find("`", at + 1) + 1
        return behind or len(value)
    return _match_end(_BARE, value, at)


def _variable_end(value: str, behind: int) -> int:
    """Where what stands behind a dollar sign ends."""
    if value[behind : behind + 1] in _CLOSING:
        return _closed(value, behind)
    return _match_end(_SPECIAL, value, behind)


def _match_end(pattern: re.Pattern[str], value: str, at: int) -> int:
    """Where a match that begins there ends; `at` itself where there is none."""
    match = pattern.match(value, at)
    if match is None:
        return at
    return match.end()
