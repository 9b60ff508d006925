"""The language of what people read: messages in English, and their translations.

    tr("run {number} ended", number=2)    the message, in the language that is spoken
    form(3, "differs", "differ")          the message for one or for several
    mark("ran to its end")                a message that stands in a table; `tr` says it later
    with spoken("zh"): ...                what is said in here is said in Chinese
    count(3, "run"), listed(names)        numbers and lists, which are English in every language

A message is its own key, as everywhere with gettext; what no catalogue holds is said in English.
What is English in every language is a plain f-string. A translated text keeps its English in
`Translated` alone: never put one into an f-string.
Imports the standard library alone, and `gettext` only where another language is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from gettext import NullTranslations


LANGUAGES: Mapping[str, str] = {"en": "en", "zh": "zh-CN"}
"""By what is asked for: the name in HTML (BCP 47)."""
CATALOGUES = Path(__file__).parent
_Value = TypeVar("_Value")
_spoken: ContextVar[str] = ContextVar("language", default="en")


class Translated(str):
    """A text in another language, with the English one for what machines read."""

    english: str

    def __new__(cls, text: str, english: str) -> Translated:
        translated = super().__new__(cls, text)
        translated.english = english
        return translated

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.english

    def __add__(self, other: str) -> Translated:
        return Translated(str(self) + other, self.english + english(other))

    def __radd__(self, other: str) -> Translated:
        return Translated(other + str(self), other + self.english)


@contextmanager
def spoken(language: str) -> Iterator[None]:
    """Say in `language` (a key of LANGUAGES) what is said in this thread meanwhile."""
    before = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(before)


def tag() -> str:
    """Return the language that is spoken, as HTML names it."""
    return LANGUAGES[_spoken.get()]


def tr(message: str, /, **values: object) -> str:
    """Return the message in the language that is spoken, with `values` in its named places.

    A message that has been translated stays as it is.

    >>> tr("run {number} ended", number=2)
    'run 2 ended'
    """
    language = _spoken.get()
    if language == "en":
        return _filled(message, values)
    if isinstance(message, Translated) or not message:
        return message
    return _translated(_catalogue(language).gettext(message), message, values)


def form(number: int, one: str, several: str, /, **values: object) -> str:
    """Return the message for one or for several.

    >>> form(2, "it differs", "they differ")
    'they differ'
    """
    plain = {1: one}.get(number, several)
    language = _spoken.get()
    if language == "en":
        return _filled(plain, values)
    return _translated(_catalogue(language).ngettext(one, several, number), plain, values)


def mark(message: str) -> str:
    """Mark a message that is made when its module is loaded: whoever uses it says it with `tr`."""
    return message


def english(value: _Value) -> _Value | str:
    """Return the English of a text, for what machines read; other values as they are."""
    if isinstance(value, Translated):
        return value.english
    return value


def changed(
    text: str, change: Callable[[str], str], translated: Callable[[str], str] | None = None
) -> str:
    """Return a text with a change that its English undergoes, too.

    `translated`: what another language undergoes instead.
    """
    if isinstance(text, Translated):
        return Translated((translated or change)(str(text)), change(text.english))
    return change(text)


def joined(separator: str, parts: Iterable[str]) -> str:
    """Return the parts that are not empty, with the separator between them; in English, too."""
    texts = list(filter(None, parts))
    text = separator.join(texts)
    if not any(isinstance(part, Translated) for part in (separator, *texts)):
        return text
    return Translated(text, english(separator).join(map(english, texts)))


def sentences(*parts: str) -> str:
    """Return the sentences that are not empty, one after another.

    No space stands behind a sentence in Chinese.
    """
    *before, last = list(filter(None, parts)) or [""]
    return joined("", (*(part + _space(part) for part in before), last))


def _space(part: str) -> str:
    if isinstance(part, Translated) and part.endswith("。"):
        return Translated("", " ")
    return " "


def count(number: int, noun: str, nouns: str = "") -> str:
    """Return so many of something, in English.

    >>> count(1, "run"), count(12000, "loss", "losses")
    ('1 run', '12,000 losses')
    """
    return f"{number:,} {noun if number == 1 else nouns or f'{noun}s'}"


def listed(names: Iterable[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`: in English where the names are none of `tr`."""
    *others, last = names
    comma, conjunction = ", ", " and "
    if any(isinstance(name, Translated) for name in (*others, last)):
        comma, conjunction = tr(", "), tr(" and ")
    return joined(conjunction, (joined(comma, others), last))


def shortlist(names: Sequence[str], most: int = 4) -> str:
    """Return `a, b and c`, the rest counted; "" for none."""
    if not names:
        return ""
    if len(names) <= most:
        return listed(names)
    return listed([*names[:most], f"{len(names) - most} more"])


def _translated(template: str, message: str, values: Mapping[str, object]) -> str:
    from reprocheck.language import spacing

    text = template
    if values:
        text = spacing.filled(template, values)
    return Translated(text, _filled(message, values))


def _filled(message: str, values: Mapping[str, object]) -> str:
    """Return the English text: values that are translated are put in as their English, too."""
    if not values:
        return message
    return message.format_map({name: english(value) for name, value in values.items()})


@cache
def _catalogue(language: str) -> NullTranslations:
    """Return the messages of a language, read when it is first asked for."""
    import gettext

    return gettext.translation("reprocheck", CATALOGUES, languages=[language])
