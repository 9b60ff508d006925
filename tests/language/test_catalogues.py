"""Every message is translated, and the catalogues are those of the code."""

from __future__ import annotations

import importlib.util
import string
from types import ModuleType

import pytest

from reprocheck.language import LANGUAGES
from tests.conftest import ROOT

AGAIN = "run `python .ci/translations.py`"
OTHERS = [language for language in LANGUAGES if language != "en"]


@pytest.fixture(scope="module")
def translations() -> ModuleType:
    spec = importlib.util.spec_from_file_location("translations", ROOT / ".ci" / "translations.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def places(text: str) -> list[tuple[str, str, str]]:
    """The named places of a message, with how their values are written."""
    fields = string.Formatter().parse(text)
    return sorted(
        (name, spec or "", how or "") for _, name, spec, how in fields if name is not None
    )


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_translated_with_the_same_places(
    language: str, translations: ModuleType
) -> None:
    held = translations.catalogue(language)
    assert len(held) > 1000
    assert [one.id for one in translations.missing(held)] == [], AGAIN
    for message in held:
        if isinstance(message.id, str):
            assert places(message.string) == places(message.id), message.id
        else:
            for text in message.string:
                assert places(text) == places(message.id[1]), message.id


@pytest.mark.parametrize("language", OTHERS)
def test_the_files_are_those_that_the_command_writes(
    language: str, translations: ModuleType
) -> None:
    text, compiled = translations.written(translations.catalogue(language))
    assert translations.path(language, ".po").read_bytes() == text, AGAIN
    assert translations.path(language, ".mo").read_bytes() == compiled, AGAIN
