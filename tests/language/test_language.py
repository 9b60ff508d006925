"""What is said, in English and in another language."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from reprocheck.language import (
    LANGUAGES,
    count,
    english,
    form,
    joined,
    listed,
    sentences,
    spoken,
    tag,
    tr,
)
from reprocheck.language.letters import capital, clause
from reprocheck.language.spacing import filled
from reprocheck.settings import options


@pytest.fixture
def chinese() -> Iterator[None]:
    with spoken("zh"):
        yield


def test_without_another_language_everything_is_said_in_english() -> None:
    assert tr("run {number}", number=2) == "run 2"
    assert count(1, "loss", "losses") == "1 loss"
    assert count(12000, "loss", "losses") == "12,000 losses"
    assert form(2, "{name} differs", "{name} differ", name="a") == "a differ"
    assert (tag(), sentences("One.", "", "Two."), listed(["a", "b", "c"])) == (
        "en",
        "One. Two.",
        "a, b and c",
    )


@pytest.mark.usefixtures("chinese")
def test_what_has_a_translation_is_said_in_it_and_keeps_its_english() -> None:
    evidence = tr("Evidence ({number})", number=2)
    assert (evidence, english(evidence), tag()) == ("证据（2）", "Evidence (2)", "zh-CN")
    differ = form(2, "it differs", "they differ")
    assert english(differ) == "they differ"


@pytest.mark.usefixtures("chinese")
def test_numbers_and_names_are_english_in_every_language() -> None:
    assert (count(3, "iteration"), listed(["a", "b", "c"])) == ("3 iterations", "a, b and c")
    agreeing = listed([tr("weights"), tr("batches"), tr("module outputs")])
    assert (agreeing, english(agreeing)) == (
        "权重、批次 和 模块输出",
        "weights, batches and module outputs",
    )


@pytest.mark.usefixtures("chinese")
def test_a_space_stands_between_sentences_but_behind_one_in_chinese() -> None:
    ends = tr("The losses of iteration {iteration} differ.", iteration=3)
    both = sentences(ends, "", "One.", "Two.")
    assert both == f"{ends}One. Two."
    assert english(both) == "The losses of iteration 3 differ. One. Two."


@pytest.mark.usefixtures("chinese")
def test_what_has_no_translation_is_said_in_english() -> None:
    assert tr("a sentence that nobody wrote about {name}", name="x") == (
        "a sentence that nobody wrote about x"
    )


@pytest.mark.usefixtures("chinese")
def test_parts_keep_their_english_in_the_whole() -> None:
    part = tr("the loss")
    whole = sentences(tr("{head}; {why}", head=part, why=tr("differs")), "b" + part)
    assert english(whole) == "the loss; differs bthe loss"
    assert english(part + "!") == "the loss!"
    assert english(joined(" / ", (part, part))) == "the loss / the loss"
    assert english(capital(part)) == "The loss"
    assert english(clause(tr("The losses of iteration {iteration} differ.", iteration=3))) == (
        "the losses of iteration 3 differ"
    )
    assert not clause(tr("The losses of iteration {iteration} differ.", iteration=3)).endswith("。")


@pytest.mark.usefixtures("chinese")
def test_what_is_said_already_is_not_said_again_and_survives_another_process() -> None:
    said = tr("the loss")
    assert tr(said) is said
    back = pickle.loads(pickle.dumps(said))
    assert (back, english(back)) == (said, "the loss")


def test_a_language_is_spoken_within_its_block_alone() -> None:
    with spoken("zh"):
        with spoken("en"):
            assert tr("the loss") == "the loss"
        assert tr("the loss") == "损失"
    assert tr("the loss") == "the loss"


@pytest.mark.parametrize(
    ("template", "value", "text"),
    [
        ("因为{a}不一致", "seed", "因为 seed 不一致"),
        ("因为{a}不一致", "种子", "因为种子不一致"),
        ("在 {a} 中", "损失", "在损失中"),
        ("在 {a} 中", "`a.py`", "在 `a.py` 中"),
        ("读取{a}。", "数据a/b中.csv", "读取数据a/b中.csv。"),
    ],
)
def test_chinese_and_latin_stand_apart_and_a_value_stays_as_it_is(
    template: str, value: str, text: str
) -> None:
    assert filled(template, {"a": value}) == text


def test_the_setting_offers_every_language() -> None:
    assert tuple(LANGUAGES) == options.LANGUAGES
