"""Add seeding lines for draws that no seed reaches.

Beside the program's own seed, else below the imports at the top.
"""

from __future__ import annotations

from functools import partial

import libcst as cst

from reprocheck.fixes.edits.changes import Edit, filled
from reprocheck.fixes.edits.imports import bound_as, can_bind, imported, name_of
from reprocheck.fixes.edits.tree import Tree, argument, inside, is_none, is_open, keyword
from reprocheck.fixes.seeds import BY_TITLE, TF_KERAS, TORCH_GENERATOR, Stream
from reprocheck.scan.aliases import canonical
from reprocheck.scan.checks import tables
from reprocheck.scan.finding import Finding
from reprocheck.scan.index import of_kind


def seeded(tree: Tree, finding: Finding, number: int) -> Edit | None:
    """Return a seed for a random stream.

    Below the call that seeds another stream, with the same number, else at the top of the program.
    """
    evidence = finding.evidence
    word = evidence.get("seed_keyword")
    if word in ("random_state", "seed"):
        if finding.may_repeat:
            return None
        return with_seed(tree.call_at(finding), word)
    stream = _stream(tree, evidence.get("stream", ""))
    if stream is None or not can_bind(tree, stream.module):
        return None
    beside = evidence.get("seed_beside", "0")
    line = int(evidence.get("seed_above", beside))
    if tree.lines.get(line) != evidence.get("seed_text", ""):
        return None
    if "seed_beside" in evidence:
        return _beside(tree, line, stream)
    value = evidence.get("seed_number", stream.number)
    if value == "0":
        value = stream.number
    return Edit(heads=((stream.module, f"{stream.seed}({value})"),), line=line)


def _stream(tree: Tree, title: str) -> Stream | None:
    """Return how a random stream is seeded in a program, by its title."""
    is_bound = bound_as(tree.module.body, "keras") is not None
    bindings = imported(tree.every(cst.Import, cst.ImportFrom))
    roots = {thing.partition(".")[0] for thing, _ in bindings}
    from_tensorflow = "tensorflow" in roots and "keras" not in roots
    if title == "Keras" and not is_bound and from_tensorflow:
        return TF_KERAS
    return BY_TITLE.get(title)


def with_seed(call: cst.Call | None, word: str) -> Edit | None:
    """Add `random_state=0` to a call that takes a seed under this keyword."""
    if call is None:
        return None
    return filled(call, keyword(call, word), word, "0")


def _beside(tree: Tree, line: int, stream: Stream) -> Edit | None:
    """Return a line below the call in a line that seeds another stream, with its number."""
    on_line = [one for one in tree.every(cst.Call) if tree.line(one) == line]
    call = next(filter(partial(is_seeding, tree), on_line), None)
    if call is None:
        return None
    statement = tree.statement_of(call)
    given = _number(tree, call)
    if statement is None or given is None:
        return None
    text = f"{name_of(tree, stream.module)}.{stream.seed}({tree.module.code_for_node(given)})"
    return Edit(below=((statement, text),), imports=(stream.module,), line=line)


def is_seeding(tree: Tree, call: cst.Call) -> bool:
    """Return whether a call seeds a stream of its own or of a library."""
    return canonical(tree.function(call)) in tables.seeds()


def _number(tree: Tree, call: cst.Call) -> cst.BaseExpression | None:
    """Return the number that a seeding call is given.

    None if it is not visible, or must not be written a second time.
    """
    known = tables.seeds().get(canonical(tree.function(call)))
    if known is None or is_open(call):
        return None
    given = argument(call, known.keyword)
    if given is None or is_none(given.value):
        return None
    # what an expression must not hold that is written down a second time
    changing = (cst.Call, cst.Await, cst.Lambda, cst.NamedExpr, cst.Yield)
    if any(of_kind(inside(given.value), *changing)):
        return None
    return given.value


def with_generator(tree: Tree, call: cst.Call) -> Edit | None:
    """Add `generator=torch.Generator().manual_seed(0)` to a loader."""
    if is_open(call) or not can_bind(tree, "torch"):
        return None
    value = TORCH_GENERATOR.format(torch=name_of(tree, "torch"))
    return filled(call, keyword(call, "generator"), "generator", value, imports=("torch",))
