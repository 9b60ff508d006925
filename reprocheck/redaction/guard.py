"""One text at a time: what of it leaves, by the level that was asked for and the way of its
field.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, get_args

from reprocheck.language import mark
from reprocheck.model import Check
from reprocheck.redaction import lists, shapes
from reprocheck.redaction.detector import Detector, Scanner
from reprocheck.redaction.fields import How
from reprocheck.redaction.lists import VARIABLE
from reprocheck.redaction.patterns import place
from reprocheck.redaction.shapes import Word

Level = Literal["none", "default", "strict"]
LEVELS: tuple[Level, ...] = get_args(Level)
_ORIGINS = ("--", "REPROCHECK_")
"""In front of an option or a variable that a setting came from."""
_NUMBERED: Mapping[str, str] = {
    "name": mark("name (numbered)"),
    "file": mark("file (numbered)"),
    "option": mark("option (numbered)"),
    VARIABLE: mark("variable (numbered)"),
}
"""What is called by a number -> the kind under which it is counted."""
NOT_SHOWN = "<set>"
"""The value of a variable or a fact of which the name alone leaves."""


class Redaction:
    """What may leave, and a count of what did not.

    level      `none`, `default` or `strict`
    identity   home folder, user name and host name of the sender
    known      values that are taken out wherever they stand, such as those of arguments
    scanner    what looks for secrets beside the patterns; None for nothing
    folders    those that the training ran in: paths in them are relative to them
    """

    def __init__(
        self,
        level: Level = "default",
        *,
        identity: tuple[str, str, str] = ("", "", ""),
        known: Iterable[str] = (),
        scanner: Scanner | None = None,
        folders: Iterable[str] = (),
    ) -> None:
        self.level = level
        self._detector = Detector(identity, known, scanner, folders)
        self._numbers: dict[tuple[str, str], str] = {}
        self._ways: Mapping[How, Callable[[str], str]] = {
            "name": self.name,
            "path": self.path,
            "sentence": self.text,
            "text": self.text,
            "value": self.value,
            "settings": self.value,
            "facts": self.checked,
        }

    @property
    def counts(self) -> Counter[str]:
        """How often something was taken out or left out, by kind."""
        return self._detector.counts

    @property
    def strict(self) -> bool:
        """Whether free text is left out."""
        return self.level == "strict"

    def shown(self, text: str, how: How) -> str:
        """What leaves of a text of a field."""
        if how == "as is":
            return text
        return self._ways[how](text)

    # --------------------------------------------------------------------------------- by the field

    def checked(self, text: str) -> str:
        """Through the detector, in every level."""
        return self._detector.masked(text)

    def text(self, text: str) -> str:
        """Free text, or a sentence that can hold parts of some."""
        if not self.strict:
            return self.checked(text)
        if text.strip():
            self.counts[mark("free text (left out)")] += 1
        return ""

    def name(self, text: str) -> str:
        """The name of a module, a series or a parameter."""
        if not self.strict:
            return self.checked(text)
        if shapes.is_plain_name(text):
            return text
        return self._numbered("name", text)

    def path(self, text: str) -> str:
        """The path of a file."""
        if not self.strict:
            return self.checked(place(text))
        if shapes.is_plain_name(text.removesuffix(".py")) or text.startswith(_ORIGINS):
            return self._option(text)
        return self._numbered("file", text) + shapes.suffix(text)

    def _option(self, text: str) -> str:
        if self.checked(text) != text:
            return self._numbered("option", text)
        return text

    def value(self, text: str) -> str:
        """A value that code was given: its shape."""
        found = shapes.shape(text)
        if found != text:
            self.counts[mark("value (shape alone)")] += 1
        return self.checked(found)

    def arguments(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """The words of a command."""
        return tuple(map(self._word, shapes.words_of(command)))

    def _word(self, word: Word) -> str:
        option = word.option
        if self.strict and option and option not in shapes.KNOWN_OPTIONS:
            option = "--<option>"
        if word.kind == "path":
            return self.path(word.value)
        if word.kind == "name":
            return option + self.name(word.value)
        found = shapes.shape(word.value)
        if found != word.value:
            self.counts[mark("argument (shape alone)")] += 1
        return self.checked(f"{option}{word.between}{found}")

    def setting(self, name: str, value: str) -> str:
        """A setting that is text."""
        names_a_series = "series:" in value
        if name in lists.SETTINGS_AS_IS and not names_a_series:
            return self.checked(value)
        if names_a_series:
            first, _, series = value.partition("series:")
            return f"{first}series:{self.name(series)}"
        return self.value(value)

    def fact(self, key: str, value: object) -> tuple[str, object] | None:
        """A fact of the environment with its key; None where it does not leave."""
        if key.startswith(lists.VARIABLE):
            self.counts[mark("environment variable (name alone)")] += 1
            return self._variable(key), NOT_SHOWN
        if key.startswith(lists.PACKAGE):
            return self._package(key, value)
        is_known = key in lists.FACTS or key.startswith(lists.FACTS_OF)
        is_named = is_known and self.checked(key) == key
        if is_named and shapes.is_commit(key, value):
            return key, value
        if not is_named or self._is_too_free(value):
            self.counts[mark("fact of the environment (left out)")] += 1
            return None
        return key, self._of_framework(value)

    def _is_too_free(self, value: object) -> bool:
        """Whether a fact holds words that are not on the list of `strict`."""
        if isinstance(value, (list, tuple)):
            return any(map(self._is_too_free, value))
        return self.strict and isinstance(value, str) and not shapes.is_plain_fact(value)

    def _of_framework(self, value: object) -> object:
        if isinstance(value, str):
            return self.checked(value)
        if isinstance(value, (list, tuple)):
            return [self._of_framework(one) for one in value]
        return value

    def _variable(self, key: str) -> str:
        is_known = key.removeprefix(lists.VARIABLE) in lists.KNOWN_VARIABLES
        if self.checked(key) != key or (self.strict and not is_known):
            return self._numbered(lists.VARIABLE, key)
        return key

    def _package(self, key: str, value: object) -> tuple[str, object] | None:
        name = key.removeprefix(lists.PACKAGE)
        if self.strict and not shapes.is_known_package(name):
            self.counts[mark("package (left out)")] += 1
            return None
        return lists.PACKAGE + self.checked(name), self.version(name, str(value))

    def version(self, of: str, text: str) -> str:
        """The version of a package or a framework."""
        if self._is_too_free(text):
            self.counts[mark("version (left out)")] += 1
            return NOT_SHOWN
        if shapes.is_version_of(of, text):
            return text
        return self.checked(text)

    def _numbered(self, kind: str, text: str) -> str:
        """A number in place of a name: the same for the same name."""
        if not text:
            return text
        if (kind, text) not in self._numbers:
            of_kind = sum(one == kind for one, _ in self._numbers)
            self._numbers[kind, text] = f"{kind}-{of_kind + 1}"
        self.counts[_NUMBERED[kind]] += 1
        return self._numbers[kind, text]


# --------------------------------------------------------------------------------- the sender's own


def known_values(check: Check) -> Iterator[str]:
    """Values that the sender gave the training, as arguments and variables: text, no numbers and no
    options; none that the name of the script or module holds, without which nothing runs.
    """
    words = chain.from_iterable(map(shapes.words_of, _commands(check)))
    names = {word.value for word in words if word.kind != "text"}
    values = chain.from_iterable(map(shapes.values_of, _commands(check)))
    facts = chain.from_iterable(facts.items() for facts in _environments(check))
    variables = (str(value) for key, value in facts if key.startswith(VARIABLE))
    for value in chain(values, filter(_is_text, variables)):
        if not any(value in name for name in names):
            yield value


def known_folders(check: Check) -> frozenset[str]:
    """The folders that the runs worked in, as the record names them."""
    return frozenset(run.workdir for run in check.runs if run.workdir.count("/"))


def _is_text(value: str) -> bool:
    return shapes.shape(value) in ("<text>", "<path>")


def _commands(check: Check) -> Iterator[Sequence[str]]:
    """What was started, and what that started."""
    yield check.record.entry_point.command
    yield from (side.entry_point.command for side in check.record.compared)
    processes = chain.from_iterable(run.processes for run in check.runs)
    yield from (process.argv for process in processes)


def _environments(check: Check) -> Iterator[Mapping[str, object]]:
    """The environments of all that ran, and what differs between them."""
    yield check.record.environment
    yield from (side.environment for side in check.record.compared)
    yield from (run.environment for run in check.runs)
    yield from (trace.environment for trace in check.traces)
    yield from ({one.key: one.reference} for one in check.environment_differences)
    yield from ({one.key: one.value} for one in check.environment_differences)
