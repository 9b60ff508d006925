from __future__ import annotations

from reprocheck.suite.night.folder import new_id

NOW = 1_795_428_000.0  # 2026-11-23T10:00:00Z


def test_a_night_is_named_by_its_time() -> None:
    name, _, random = new_id(NOW + 0.9).rpartition("-")
    assert name == "2026-11-23T10-00-00Z"
    assert len(random) == 4
    assert int(random, 16) < 1 << 16


def test_two_nights_of_one_second_have_two_names() -> None:
    first = new_id(NOW)
    second = new_id(NOW, first)
    assert first < second
    assert second.startswith("2026-11-23T10-00-01Z")


def test_names_sort_where_the_clock_was_set_back() -> None:
    before = new_id(NOW)
    assert before < new_id(NOW - 86400, before)


def test_a_name_of_another_form_does_not_matter() -> None:
    assert new_id(NOW, "imported").startswith("2026-11-23T10-00-00Z")
