"""Decide of one text what of it leaves.

By the level that was asked for and the way of its field.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

from reprocheck.redaction import shapes
from reprocheck.redaction.fields import How
from reprocheck.redaction.lists import COMMANDS, LISTS, PACKAGE, VARIABLE
from reprocheck.redaction.masking import Masking
from reprocheck.redaction.patterns import place
from reprocheck.redaction.shapes import Word

if TYPE_CHECKING:
    from reprocheck.redaction.detector import Detector, Scanner

Level = Literal["folder", "paste", "attachment"]
"""The folder of a check, a text to paste into an issue or a chat, a file that is attached."""
_NUMBERED: Mapping[str, str] = {
    "name": "name (numbered)",
    "file": "file (numbered)",
    "option": "option (numbered)",
    VARIABLE: "variable (numbered)",
}
"""What is called by a number -> the kind under which it is counted."""
NOT_SHOWN, NOT_SET = "<set>", "not set"
"""The value of a variable or a fact of which the name alone leaves, and of one that has none."""


class Redaction:
    """What may be shown to others, and a count of what was removed.

    level      the audience: `folder` removes names and secrets of known forms from all text;
               `paste` and `attachment` let only listed fields pass, arguments only by their shape,
               and search the text of these fields more thoroughly
    identity   home folder, user name and host name of the sender
    known      values that are removed wherever they occur, such as those of arguments
    quoted     log lines that sentences quote, removed if no log is sent
    scanner    a scanner for secrets, in addition to the patterns; without one an attachment is
               strict
    folders    the folders that the training ran in: paths in them are made relative
    strict     whether free text is left out
    with_log   whether the output of the script is sent
    """

    def __init__(
        self,
        level: Level = "paste",
        *,
        identity: tuple[str, str, str] = ("", "", ""),
        known: Iterable[str] = (),
        quoted: Iterable[str] = (),
        scanner: Scanner | None = None,
        folders: Iterable[str] = (),
        strict: bool = False,
        with_log: bool = False,
    ) -> None:
        self.level = level
        self.strict = strict or (level == "attachment" and scanner is None)
        self.with_log = with_log or level == "folder"
        known = tuple(known)
        self._masking = Masking(identity, known)
        self._detector: Masking | Detector = self._masking
        self._quoted: list[str] = []
        if level != "folder":
            from reprocheck.redaction.detector import Detector, written

            self._detector = Detector(identity, known, scanner, folders)
            self._quoted = [] if with_log else written(quoted)
        self._numbers: dict[tuple[str, str], str] = {}
        named = Masking(("", "", "")).masked if level == "folder" else self.name
        self._ways: Mapping[How, Callable[[str], str]] = {
            "name": self.name,
            "target": named,
            "path": self.checked if level == "folder" else self.path,
            "sentence": self.sentence,
            "text": self.text,
            "log": self.log,
            "value": self.value,
            "settings": self.value,
            "facts": self.checked,
            "command": self.command,
            "words": partial(self.command, started=True),
            "person": self.person,
        }

    @property
    def counts(self) -> Counter[str]:
        """Return how often something was taken out or left out, by kind."""
        return self._detector.counts

    def shown(self, text: str, how: How) -> str:
        """Return the text of a field as it may be shown."""
        if how == "as is":
            return text
        return self._ways[how](text)

    def checked(self, text: str) -> str:
        """Return a text with sensitive parts masked, at every level."""
        return self._detector.masked(text)

    def text(self, text: str) -> str:
        """Return free text, or a sentence that can quote free text, as it may be shown."""
        if not self.strict:
            return self.checked(text)
        if text.strip():
            self.counts["free text (left out)"] += 1
        return ""

    def sentence(self, text: str) -> str:
        """Return a sentence of reprocheck's, which can quote the log."""
        if self._quoted:
            from reprocheck.redaction.detector import without

            text, found = without(text, self._quoted, "<log>")
            self.counts["line of a log"] += found
        return self.text(text)

    def log(self, text: str) -> str:
        """Return the output of the script as it may be shown."""
        if self.with_log:
            return self.text(text)
        if text.strip():
            self.counts["log (left out)"] += 1
        return ""

    def source(self, text: str, *, python: bool = True) -> str:
        """Return the user's code, which can be parsed afterwards as before."""
        if self.level == "folder":
            return self._masking.source(text, python=python)
        return self.text(text)

    def name(self, text: str) -> str:
        """Return the name of a module, a series or a parameter."""
        if not self.strict:
            return self.checked(text)
        if shapes.is_plain_name(text):
            return text
        return self._numbered("name", text)

    def path(self, text: str) -> str:
        """Return the path of a file; in a report folder it leads to that file."""
        if self.level == "folder":
            return self._masking.path(text)
        if not self.strict:
            return self.checked(place(text))
        if shapes.is_plain_name(text.removesuffix(".py")) or text.startswith(("--", "REPROCHECK_")):
            if self.checked(text) != text:
                return self._numbered("option", text)
            return text
        return self._numbered("file", text) + shapes.suffix(text)

    def value(self, text: str) -> str:
        """Return the shape of a value that code was given."""
        if self.level == "folder":
            return self.checked(text)
        found = shapes.shape(text)
        if found != text:
            self.counts["value (shape alone)"] += 1
        return self.checked(found)

    def arguments(self, command: Iterable[str], *, started: bool = False) -> tuple[str, ...]:
        """Return the redacted words of a command; `started`: the words after its script."""
        command = tuple(command)
        if self.level == "folder":
            return self._masking.arguments(command)
        return tuple(map(self._word, shapes.words_of(command, started=started)))

    def _word(self, word: Word) -> str:
        option = word.option
        if self.strict and option and option not in LISTS.options:
            option = "--<option>"
        if word.kind == "path":
            return self.path(word.value)
        if word.kind == "name":
            return option + self.name(word.value)
        found = shapes.shape(word.value)
        if found != word.value:
            self.counts["argument (shape alone)"] += 1
        return self.checked(f"{option}{word.between}{found}")

    def command(self, text: str, *, started: bool = False) -> str:
        """Return a redacted command as typed in a shell; `started`: the words after its script."""
        try:
            words = tuple(shlex.split(text))
        except ValueError:  # no shell has written it
            return self.value(text)
        shown = self.arguments(words, started=started)
        return text if shown == words else shlex.join(shown)

    def person(self, name: str) -> str:
        """Return the redacted name of a person who did something."""
        return name if self.level == "folder" else ""

    def setting(self, name: str, value: str) -> str:
        """Return a setting that is text."""
        if self.level == "folder":
            return self.checked(value)
        names_a_series = "series:" in value
        if name in LISTS.settings and not names_a_series:
            return self.checked(value)
        if names_a_series:
            first, _, series = value.partition("series:")
            return f"{first}series:{self.name(series)}"
        return self.value(value)

    def fact(self, key: str, value: object) -> tuple[str, object] | None:
        """Return a fact of the environment with its key; None if it must not be shown."""
        if self.level == "folder":
            return self.checked(key), self._of_framework(value)
        if key in COMMANDS:
            return key, self.command(str(value))
        if key.startswith(VARIABLE):
            self.counts["environment variable (name alone)"] += 1
            return self._variable(key), NOT_SET if value in ("", None) else NOT_SHOWN
        if key.startswith(PACKAGE):
            name = key.removeprefix(PACKAGE)
            if self.strict and not shapes.is_known_package(name):
                self.counts["package (left out)"] += 1
                return None
            return PACKAGE + self.checked(name), self.version(name, str(value))
        is_known = key in LISTS.facts | LISTS.facts_of_a_key or key.startswith(LISTS.facts_of)
        is_named = is_known and self.checked(key) == key
        if is_named and shapes.is_commit(key, value):
            return key, value
        if not is_named or self._is_too_free(value):
            self.counts["fact of the environment (left out)"] += 1
            return None
        return key, self._of_framework(value)

    def _is_too_free(self, value: object) -> bool:
        """Return whether a fact holds words that are not on the list of `strict`."""
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
        is_known = key.removeprefix(VARIABLE) in LISTS.variables
        if self.checked(key) != key or (self.strict and not is_known):
            return self._numbered(VARIABLE, key)
        return key

    def version(self, of: str, text: str) -> str:
        """Return the version of a package or a framework."""
        if self._is_too_free(text):
            self.counts["version (left out)"] += 1
            return NOT_SHOWN
        if shapes.is_version_of(of, text):
            return text
        return self.checked(text)

    def _numbered(self, kind: str, text: str) -> str:
        """Return a number in place of a name: the same for the same name."""
        if not text:
            return text
        if (kind, text) not in self._numbers:
            of_kind = sum(one == kind for one, _ in self._numbers)
            self._numbers[kind, text] = f"{kind}-{of_kind + 1}"
        self.counts[_NUMBERED[kind]] += 1
        return self._numbers[kind, text]
