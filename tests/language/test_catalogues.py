"""What is translated can be said. Whether all is translated is asked before a release alone
(`.ci/ready.py`): a message without a translation is said in English.
"""

from __future__ import annotations

import importlib.util
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


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_translated_has_the_places_of_its_message(
    language: str, translations: ModuleType
) -> None:
    catalogue = translations.kept(language)
    assert len(catalogue) > 500
    assert [message.id for message in translations.misplaced(catalogue)] == []


@pytest.mark.parametrize("language", OTHERS)
def test_what_is_read_is_what_is_edited(language: str, translations: ModuleType) -> None:
    text, compiled = translations.written(translations.kept(language))
    assert translations.path(language, ".po").read_bytes() == text, AGAIN
    assert translations.path(language, ".mo").read_bytes() == compiled, AGAIN
