"""The lines of unified differences."""

from __future__ import annotations

from reprocheck.report.diffs import lines

PATCH = """--- a/train.sql
+++ b/train.sql
@@ -3,3 +3,4 @@
 select 1;
+-- new
--- old
 select 2;
+select 3;
@@ -9 +10 @@
-x
+y
--- a/other.py
+++ b/other.py
@@ -1 +1 @@
-import a
+import b
no line of a hunk"""


def test_each_line_has_its_places_in_both_files_and_what_looks_like_a_head_is_text() -> None:
    assert [(one.sign, one.text, one.file, one.before, one.after) for one in lines(PATCH)] == [
        (" ", "select 1;", "train.sql", 3, 3),
        ("+", "-- new", "train.sql", 4, 4),
        ("-", "-- old", "train.sql", 4, 5),
        (" ", "select 2;", "train.sql", 5, 5),
        ("+", "select 3;", "train.sql", 6, 6),
        ("-", "x", "train.sql", 9, 10),
        ("+", "y", "train.sql", 10, 10),
        ("-", "import a", "other.py", 1, 1),
        ("+", "import b", "other.py", 2, 1),
    ]
    assert {one.head for one in lines(PATCH)} == {"b"}
    assert list(lines("code to paste\n    indented")) == []
