"""The catalogues of `reprocheck/language`: what is said, and in which other languages.

    python .ci/translations.py            new messages into every .po, obsolete ones out, and the
                                          .mo files, which are what is read
    python .ci/translations.py --missing  prints what is not translated, and how much there is;
                                          exit code 1 where something is missing, or where the
                                          files are not those of the code

The messages are those that the code, the templates and the tables of causes hold.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import Any, get_args

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from reprocheck.language import CATALOGUES, LANGUAGES
from reprocheck.model import CheckKind, Confidence, RungName
from reprocheck.rules.catalogue import ENTRIES
from reprocheck.settings import controls, variations

PACKAGE = Path(__file__).parent.parent / "reprocheck"
NAME = "reprocheck"
SAID = {
    "tr": 1,
    "say": 1,
    "mark": 1,
    "row": 1,
    "column": 1,
    "_labelled": 2,
    "_row": 2,
    "_rows": 2,
}
"""Functions that say a message -> which argument it is."""
NOT_TRANSLATED = {"child", "suite"}
"""Folders whose texts are English in every language."""
Text = str | tuple[str, str]
"""A message; of one that depends on a number, the form for one and that for several."""
Found = tuple[Text, str]
"""A message, and where it stands."""


def said(call: ast.Call) -> Iterator[Text]:
    """The messages that a call says."""
    name = ast.unparse(call.func).rpartition(".")[2]
    texts = [_text(argument) for argument in call.args]
    if name in SAID:
        yield from filter(None, texts[SAID[name] - 1 : SAID[name]])
    if name == "form":
        _, one, several = texts
        if one and several:
            yield one, several


def _text(argument: ast.expr) -> str | None:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    return None


def found() -> Iterator[Found]:
    """Every message that can be said, with the file that holds it."""
    yield from _in_code()
    yield from _in_tables()
    for kind in (RungName, CheckKind, Confidence):
        for name in get_args(kind):
            yield name, "reprocheck/model"


def _in_code() -> Iterator[Found]:
    for file in sorted(PACKAGE.rglob("*.py")):
        if NOT_TRANSLATED.isdisjoint(file.relative_to(PACKAGE).parts):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Call):
                    yield from ((message, _shown(file)) for message in said(node))
    for file in sorted((PACKAGE / "report" / "templates").glob("*.html")):
        yield from ((message, _shown(file)) for message in _in_template(file))


def _in_template(file: Path) -> Iterator[Text]:
    """The messages of a template, with `tr` as in the code."""
    with file.open("rb") as source:
        for _, _, texts, _ in babel_extract(source, ["tr"], [], {"encoding": "utf-8"}):
            yield texts[0] if isinstance(texts, tuple) else texts


def _in_tables() -> Iterator[Found]:
    """Yield what stands in data: in causes, drift, variations and controls."""
    for file in sorted(ENTRIES.glob("*.toml")):
        for entry in tomllib.loads(file.read_text("utf-8"))["entry"]:
            yield from ((text, _shown(file)) for text in _of_entry(entry))
    drift = PACKAGE / "rules" / "drift.toml"
    for one in tomllib.loads(drift.read_text("utf-8"))["class"]:
        yield from ((text, _shown(drift)) for text in (one["title"], one["why"]))
    for row in variations.table():
        yield row.depends, "reprocheck/settings"
    for control in controls.table():
        sentences = filter(_is_sentence, control.fix.values())
        texts = (control.control_class, control.does, *sentences)
        yield from ((text, "reprocheck/settings") for text in texts)


def _of_entry(entry: dict[str, Any]) -> Iterator[str]:
    yield " ".join(entry["title"].split())
    yield from entry.get("titles", {}).values()
    fixes = (text.strip("\n") for text in (entry["fix"], *entry.get("fixes", {}).values()))
    yield from filter(_is_sentence, fixes)


def _is_sentence(fix: str) -> bool:
    return "\n" not in fix and fix.endswith(".")


def _shown(file: Path) -> str:
    return str(file.relative_to(PACKAGE.parent))


def template() -> Catalog:
    """All messages, without translations."""
    catalogue = Catalog(project=NAME, charset="utf-8")
    for message, place in found():
        if message:
            catalogue.add(message, locations=[(place, 0)])
    return catalogue


def path(language: str, suffix: str) -> Path:
    """The catalogue of a language: `.po` is edited, `.mo` is read."""
    return CATALOGUES / language / "LC_MESSAGES" / f"{NAME}{suffix}"


def kept(language: str) -> Catalog:
    """The catalogue of a language as it is kept."""
    file = path(language, ".po")
    if not file.exists():
        return Catalog(locale=language)
    return read_po(BytesIO(file.read_bytes()), locale=language)


def catalogue(language: str) -> Catalog:
    """The catalogue of a language as it is kept, with every message that can be said."""
    catalogue = kept(language)
    catalogue.update(template(), no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    return catalogue


def written(held: Catalog) -> tuple[bytes, bytes]:
    """The two files of a catalogue: the same bytes for the same messages, on any day."""
    held.creation_date = held.revision_date = datetime(2026, 1, 1, tzinfo=UTC)
    text, compiled = BytesIO(), BytesIO()
    write_po(text, held, width=100, omit_header=True, sort_output=True, include_lineno=False)
    write_mo(compiled, held)
    header = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n{_plural(held)}\n'
    return header.encode() + text.getvalue(), compiled.getvalue()


def _plural(held: Catalog) -> str:
    return f'"Plural-Forms: {held.plural_forms}\\n"\n'


def missing(held: Catalog) -> list[Message]:
    """The messages that are said in English in this language."""
    return [message for message in held if message.id and not any(message.string or ())]


def misplaced(held: Catalog) -> list[Message]:
    """The messages whose translation has other named places, or other formats for them."""
    return [message for message in held if message.id and not _has_the_same_places(message)]


def _has_the_same_places(message: Message) -> bool:
    if isinstance(message.id, str):
        return not message.string or _places(message.string) == _places(message.id)
    wanted = _places(message.id[1])
    return all(not text or _places(text) == wanted for text in message.string)


def _places(text: str) -> list[tuple[str, str, str]]:
    fields = Formatter().parse(text)
    return sorted((name, spec or "", how or "") for _, name, spec, how in fields if name)


def others() -> list[str]:
    """The languages that have a catalogue."""
    return [language for language in LANGUAGES if language != "en"]


def main() -> int:
    """Write the catalogues, and print how much of each is translated; with `--missing` print what
    is not, and write nothing.
    """
    failed = False
    for language in others():
        held = catalogue(language)
        lacking = missing(held)
        text, compiled = written(held)
        if "--missing" in sys.argv[1:]:
            is_written = path(language, ".po").read_bytes() == text
            failed = failed or bool(lacking) or not is_written
            print("".join(f"{message.id}\n" for message in lacking), end="")
            if not is_written:
                print(f"{language}: the files are not those of the code")
        else:
            path(language, ".po").parent.mkdir(parents=True, exist_ok=True)
            path(language, ".po").write_bytes(text)
            path(language, ".mo").write_bytes(compiled)
        print(f"{language}: {len(held) - len(lacking):,} of {len(held):,} messages are translated")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
