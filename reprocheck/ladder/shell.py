"""Find where a shell script or a Makefile makes a value that it gives to a training.

Simple assignments and literal values are followed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
SHELLS = (".sh", ".bash", ".ksh", ".zsh")
_INTERPRETERS = ("sh", "bash", "dash", "ksh", "zsh")
_INLINE = ("-c", "-lc", "-ec")
"""Options of a shell behind which a script stands as one word."""
_DEEPEST = 4
"""Assignments followed one behind the other."""
_MOST_FILES = 20
_OTHER_SCRIPT = re.compile(rf"[\w./-]+(?:{'|'.join(map(re.escape, SHELLS))})(?![\w.])")
_CALLS_MAKE = re.compile(r"(?:^|[\s;&|])g?make(?=$|[\s;&|])")
_CHANGES = re.compile(
    r"\b(?:S?RANDOM|EPOCH\w+|BASHPID|PPID|SECONDS)\b"
    r"|\b(?:date|uuidgen|mktemp|shuf|hexdump|u?random|rand|time|time_ns|getpid|uuid\d?)\b"
    r"|\$\$(?![\w({])"
)
"""What is another value at each start: variables of a shell, what programs give, or text that awk,
Perl or Python executes on the command line; `$$` is the number of the process.
"""
_COMMAND = r"\$+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
"""`$(...)` and `$((...))`, with brackets inside of brackets."""
_REPLACED = re.compile(rf"(?:{_COMMAND}|`[^`]*`|\$+\{{[^}}]*\}}+|\$+\w*|\bS?RANDOM\b)+")
"""What the shell or make puts a value in place of."""
_WORD = re.compile(rf"(?:\"(?:{_COMMAND}|[^\"])*\"|'[^']*'|{_COMMAND}|`[^`]*`|[^\s;&|<>)\"'`])*")
"""A word of a command."""
_REST = re.compile(".*")
_DEFAULT = re.compile(r"\$\{\w+:?[-=]")
"""The beginning of `${SEED:-$RANDOM}`, up to what stands in for a variable that is not set."""
_NAME = re.compile(r"[A-Za-z_]\w*")
_TARGET = re.compile(r"(?m)^([\w./ -]+?)\s*::?(?![=:])")
_PLAIN_VALUE = re.compile(r"[\w.+:-]+")
"""A value that needs no quotation marks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A text that a shell or make executes.

    name      the path of the script; "" for a text in the command itself (`sh -c TEXT`)
    text      the text
    makefile  whether it is a Makefile
    """

    name: str
    text: str
    makefile: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """The expression that makes a value that is new at each start.

    file   the script; "" for a text in the command itself
    line   the line in the script
    by     the expression, such as `$RANDOM`
    fixed  the line with a fixed value instead of the expression
    """

    file: str
    line: int
    by: str
    fixed: str


@dataclass(frozen=True, slots=True)
class _Value:
    """The text of a value, and the offset at which it begins in its script."""

    script: Script
    at: int
    text: str


def scripts(command: Sequence[str], read: Callable[[str], str | None]) -> list[Script]:
    """Return the scripts that a command executes, and the scripts that they name.

    `read` returns the text of a file; None if there is no such file.
    """
    inline: list[Script] = []
    if posixpath.basename(next(iter(command), "")) in _INTERPRETERS:
        texts = [text for option, text in pairwise(command) if option in _INLINE]
        inline = [Script(name="", text=text) for text in texts]
    files: dict[str, Script] = {}
    waiting = [*_named(command), *chain.from_iterable(_mentioned(one.text) for one in inline)]
    while waiting and len(files) < _MOST_FILES:
        name = posixpath.normpath(waiting.pop(0))
        text = None if name in files else read(name)
        if text is None:
            continue
        is_makefile = posixpath.basename(name) in MAKEFILES or name.endswith(".mk")
        files[name] = Script(name=name, text=text, makefile=is_makefile)
        waiting += _mentioned(text)
    return [*inline, *files.values()]


def _named(command: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command that may be the path of a script."""
    program = next(iter(command), "")
    if posixpath.basename(program) in ("make", "gmake"):
        yield from (word for option, word in pairwise(command) if option == "-f")
        yield from MAKEFILES
    yield from (word for word in command if word.endswith(SHELLS))
    if "/" in program:
        yield program


def _mentioned(text: str) -> Iterator[str]:
    """Yield the scripts that a text names, and the Makefiles if the text calls make."""
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
    """Return the expression that makes the value of an argument such as `--seed`, or of a variable.

    None if the scripts do not show it.

    command   the command of the check
    read      a function that returns the text of a file, or None
    name      the argument or environment variable
    value     its value in run 1
    variable  whether it is an environment variable
    """
    texts = scripts(command, read)
    values = _assigned if variable else _passed
    uses = [use for script in reversed(texts) for use in reversed(list(values(script, name)))]
    # what the command makes tells more than the other targets of a Makefile
    uses.sort(key=lambda use: not _is_made(use, command))
    origins = (_origin(texts, use, value, _DEEPEST) for use in uses)
    return next(filter(None, origins), None)


def _is_made(use: _Value, command: Sequence[str]) -> bool:
    """Return whether the command executes a place.

    In a Makefile, only targets that the command names count.
    """
    if not use.script.makefile:
        return True
    targets = [match for match in _TARGET.finditer(use.script.text) if match.start() < use.at]
    return not targets or not set(command).isdisjoint(targets[-1].group(1).split())


def _origin(texts: Sequence[Script], use: _Value, value: str, depth: int) -> Made | None:
    """Return the changing part of a value, in the value itself or in a variable that it uses."""
    replaced = list(_REPLACED.finditer(use.text))
    for part in replaced:
        if _CHANGES.search(part.group()):
            return _made(use, part, value)
    if depth == 0:
        return None
    names = chain.from_iterable(_NAME.findall(part.group()) for part in replaced)
    assigned = chain.from_iterable(_nearest_first(texts, name, use) for name in names)
    origins = (_origin(texts, one, value, depth - 1) for one in assigned)
    return next(filter(None, origins), None)


def _nearest_first(texts: Sequence[Script], name: str, use: _Value) -> list[_Value]:
    """Return the values assigned to a variable, the nearest first.

    First those before the use in the same script, the last one first; then those in other scripts.
    """
    assigned = [one for script in reversed(texts) for one in reversed([*_assigned(script, name)])]
    in_time = [one for one in assigned if one.script is not use.script or one.at < use.at]
    return sorted(in_time, key=lambda one: one.script is not use.script)


def _made(use: _Value, part: re.Match[str], value: str) -> Made:
    script, start, text = use.script, use.at + part.start(), part.group()
    is_whole = use.text.strip().strip("\"'") == text
    fixed = value if is_whole and _PLAIN_VALUE.fullmatch(value) else "0"
    default = _DEFAULT.match(text)
    if default is not None:
        start, text, fixed = start + default.end(), text[default.end() : -1], "0"
    before = script.text[script.text.rfind("\n", 0, start) + 1 : start]
    behind = script.text[start + len(text) :].partition("\n")[0]
    return Made(
        file=script.name,
        line=script.text.count("\n", 0, start) + 1,
        by=text,
        fixed=f"{before}{fixed}{behind}".strip(),
    )


def _passed(script: Script, name: str) -> Iterator[_Value]:
    """Return the values given to an argument in the commands of a script."""
    return _values(script, rf"(?<![\w-]){re.escape(name)}(?:=|[ \t]+)")


def _assigned(script: Script, name: str) -> Iterator[_Value]:
    """Return the values that a script assigns to a variable.

    Forms are `NAME=value`, also after `export` or before a command, and `NAME := value` in a
    Makefile.
    """
    sign = r"[ \t]*[:?+!]{0,3}=[ \t]*" if script.makefile else r"\+?="
    return _values(script, rf"(?<![\w$-]){re.escape(name)}{sign}")


def _values(script: Script, pattern: str) -> Iterator[_Value]:
    """Yield the word after each match of a pattern, except in comments."""
    # lines that go on are one, every character where it was
    text = script.text.replace("\\\n", "  ")
    for match in re.finditer(pattern, text):
        before = text[text.rfind("\n", 0, match.start()) + 1 : match.end()]
        if before.lstrip().startswith("#"):
            continue
        # outside of a recipe of a Makefile the rest of the line is the value
        is_rest = script.makefile and not before.startswith("\t")
        value = (_REST if is_rest else _WORD).match(text, match.end())
        assert value is not None  # both match the empty text
        yield _Value(script, match.end(), value.group())
