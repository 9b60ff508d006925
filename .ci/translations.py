"""The catalogues of `reprocheck/language`: what is said, and in which other languages.

    python .ci/translations.py            new messages into every .po, obsolete ones out, and the
                                          .mo files, which are what is read
    python .ci/translations.py --missing  prints what is not translated, and how much there is

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
from typing import Any, get_args

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from reprocheck.child.reprocheck_child.shared.trainings import SEVERAL
from reprocheck.language import CATALOGUES, LANGUAGES
from reprocheck.model import CheckKind, Confidence, RungName
from reprocheck.model.record import CHANGES
from reprocheck.rules.catalogue import ENTRIES
from reprocheck.settings import controls

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
OF_NUMBERS = {"form": 2, "agreeing": 2, "count": 2, "_more": 3}
"""Functions that say one for one thing and another for several -> which argument is the first."""
COUNTED = ("count", "_more")
"""Those of them that are given the noun alone."""
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
    if name in OF_NUMBERS:
        forms = list(filter(None, texts[OF_NUMBERS[name] - 1 :]))
        if forms:
            yield _counted(*forms) if name in COUNTED else (forms[0], forms[1])


def _text(argument: ast.expr) -> str | None:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    return None


def _counted(noun: str, nouns: str = "") -> tuple[str, str]:
    """The two forms, as `count` makes them."""
    return f"{{number:,}} {noun}", f"{{number:,}} {nouns or noun + 's'}"


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
    """The messages of a template, with `tr` and `count` as in the code."""
    with file.open("rb") as source:
        for _, name, texts, _ in babel_extract(source, ["tr", "count"], [], {"encoding": "utf-8"}):
            found = [text for text in (texts if isinstance(texts, tuple) else (texts,)) if text]
            if found:
                yield _counted(*found) if name == "count" else found[0]


def _in_tables() -> Iterator[Found]:
    """Yield what stands in data: in records, traces, causes, operators, drift and controls."""
    yield from ((text, "reprocheck/model/record.py") for text in CHANGES.values())
    yield SEVERAL, "reprocheck/child/reprocheck_child/shared/trainings.py"
    for file in sorted(ENTRIES.glob("*.toml")):
        for entry in tomllib.loads(file.read_text("utf-8"))["entry"]:
            yield from ((text, _shown(file)) for text in _of_entry(entry))
    for file in sorted((PACKAGE / "rules" / "operators").glob("*.toml")):
        table = tomllib.loads(file.read_text("utf-8"))
        for text in (table["name"], table["source"], *(one["when"] for one in table["operator"])):
            yield text, _shown(file)
    drift = PACKAGE / "rules" / "drift.toml"
    for one in tomllib.loads(drift.read_text("utf-8"))["class"]:
        yield from ((text, _shown(drift)) for text in (one["title"], one["why"]))
    for control in controls.table():
        sentences = filter(_is_sentence, control.fix.values())
        texts = (control.control_class, control.does, *sentences)
        yield from ((text, "reprocheck/settings") for text in texts)


def _of_entry(entry: dict[str, Any]) -> Iterator[str]:
    yield from (" ".join(entry[name].split()) for name in ("title", "why", "shows"))
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


def catalogue(language: str) -> Catalog:
    """The catalogue of a language as it is kept, with every message that can be said."""
    file = path(language, ".po")
    kept = Catalog(locale=language)
    if file.exists():
        kept = read_po(BytesIO(file.read_bytes()), locale=language)
    kept.update(template(), no_fuzzy_matching=True)
    kept.obsolete.clear()
    return kept


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
    return [one for one in held if one.id and not any(one.string or ())]


def others() -> list[str]:
    """The languages that have a catalogue."""
    return [language for language in LANGUAGES if language != "en"]


def main() -> int:
    """Write the catalogues, and print how much of each is translated."""
    for language in others():
        held = catalogue(language)
        lacking = missing(held)
        if "--missing" in sys.argv[1:]:
            print("".join(f"{one.id}\n" for one in lacking), end="")
        else:
            text, compiled = written(held)
            path(language, ".po").parent.mkdir(parents=True, exist_ok=True)
            path(language, ".po").write_bytes(text)
            path(language, ".mo").write_bytes(compiled)
        print(f"{language}: {len(held) - len(lacking):,} of {len(held):,} messages are translated")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
