"""Trainings with one planted cause each, and the same trainings with the fix applied: does
reprocheck name the cause, and only then?

`python -m benchmarks.corpus` runs all of them; `docs/reference/corpus.md` keeps the table that it
prints.

corpus.toml    what must be said of each pair
pairs          reads it
judging        runs reprocheck on a pair, and holds what it said against what is expected
table          the result as Markdown
scripts/       the trainings: NAME.py with the cause, NAME_fixed.py without
"""
