"""The findings of a project: every check on every module, places, suppressions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from reprocheck.rules import Entry, find
from reprocheck.rules.page import is_code
from reprocheck.scan.aliases import FRAMEWORKS
from reprocheck.scan.checks.beside import is_in_trial
from reprocheck.scan.finding import UNUSED_IGNORE, Finding, Unreadable
from reprocheck.scan.matters import each_once
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, checks
from reprocheck.scan.steps import Step
from reprocheck.scan.suppress import Ignore, answered, complaint, ignores

_WITHOUT_NETS = ("sklearn", "numpy")
MOST_THROUGH = 6
MOST_KEPT = 200_000
"""Steps of programs that are kept until their checks; other programs are executed a second time
then.
"""
FIX_LENGTH = 110
_ALSO = {
    "lightning": "torch",
    "pytorch_lightning": "torch",
    "transformers": "torch",
    "accelerate": "torch",
    "flax": "jax",
    "optax": "jax",
}


def findings(project: Project) -> list[Finding]:
    """All findings of a project, suppressed ones too, by file and line."""
    _, wrong = reached(project, project)
    found, problems = judged(project, list(project))
    problems = [problem for problem in (*problems, *wrong) if not problem.partly]
    if problems:
        raise RuntimeError("; ".join(f"{problem.path}: {problem.reason}" for problem in problems))
    return finished(project, found)


def judged(project: Project, modules: Sequence[Module]) -> tuple[list[Finding], list[Unreadable]]:
    """What the checks find, beginning from some modules of a project, of which `reached` was
    called; and what went wrong.
    """
    found: dict[tuple[object, ...], Finding] = {}
    problems: list[Unreadable] = []
    for module in modules:
        try:
            program = next((order for order in module.orders if order.whole), None)
        except Exception as error:
            problems.append(_problem(module, "it could not be followed", error))
            continue
        for one in checks():
            try:
                for hit in one.function(module, project):
                    if hit.step is None or program is None or not is_in_trial(program, hit.step):
                        _keep(found, _finding(hit))
            except Exception as error:
                problems.append(
                    _problem(module, f"the check of {', '.join(one.codes)} failed here", error)
                )
        problems += _limits(module)
        module.__dict__.pop("orders", None)
        module.__dict__.pop("program", None)
    return list(found.values()), list(dict.fromkeys(problems))


def _limits(module: Module) -> Iterator[Unreadable]:
    """Where the analysis of a module ended before the module did."""
    if any(order.deep for order in module.orders):
        yield Unreadable(
            path=module.shown, reason="nested too deeply to be followed to its end", partly=True
        )
    elif any(order.cut for order in module.orders):
        reason = (
            "so many calls that not all of them were followed: findings in what they lead to may be"
            " missing"
        )
        yield Unreadable(path=module.shown, reason=reason, partly=True)


def reached(project: Project, modules: Iterable[Module]) -> tuple[set[int], list[Unreadable]]:
    """The functions that the programs among these modules reach, by the ids of their nodes; and
    what went wrong.
    """
    problems: list[Unreadable] = []
    kept = 0
    for module in modules:
        try:
            if module.is_entry:
                kept += len(module.program.steps)
                if kept > MOST_KEPT:
                    del module.__dict__["program"]
        except Exception as error:
            problems.append(_problem(module, "it could not be followed", error))
    return project.executed, problems


def _problem(module: Module, what: str, error: Exception) -> Unreadable:
    if isinstance(error, RecursionError):
        return Unreadable(path=module.shown, reason="nested too deeply to be followed")
    return Unreadable(path=module.shown, reason=f"{what}: {type(error).__name__}: {error}")


def _keep(found: dict[tuple[object, ...], Finding], finding: Finding) -> None:
    """Of several findings at one place, the most severe, and of those the one that is reached by
    the fewest calls.
    """
    key = (finding.code, finding.path, finding.joined_line, finding.column)
    if key not in found or _rank(finding) < _rank(found[key]):
        found[key] = finding


def finished(project: Project, found: Iterable[Finding]) -> list[Finding]:
    """Findings with what comments say of them, and with findings about comments that answer
    nothing; each place once, in order.
    """
    comments = {module.shown: ignores(module.source.text) for module in project}
    by_path = {module.shown: module for module in project}
    unique: dict[tuple[object, ...], Finding] = {}
    for finding in found:
        _keep(unique, finding)
    done = [
        _suppressed(finding, by_path[finding.path], comments[finding.path])
        for finding in each_once(unique.values())
    ]
    for module in project:
        done += [
            _unused(module, ignore, said)
            for ignore in comments[module.shown]
            if (said := complaint(ignore))
        ]
    return sorted(
        done, key=lambda finding: (finding.path, finding.joined_line, finding.column, finding.code)
    )


def _rank(finding: Finding) -> tuple[int, int]:
    return (("error", "warning", "note").index(finding.severity), len(finding.through))


def _suppressed(finding: Finding, module: Module, comments: list[Ignore]) -> Finding:
    if not comments:
        return finding
    lines = {
        finding.joined_line,
        finding.end_line if not module.source.cells else finding.joined_line,
    }
    lines |= {
        line for first, last in _statements(module, finding.joined_line) for line in (first, last)
    }
    reason = answered(comments, finding.code, lines)
    return finding if reason is None else replace(finding, suppressed=reason)


def _statements(module: Module, line: int) -> Iterator[tuple[int, int]]:
    """First and last line of the innermost statement on a line; of one with a body, its head."""
    around = [
        node
        for node in module.index.statements()
        if node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    best = max(around, key=lambda node: node.lineno, default=None)
    if best is not None:
        body = getattr(best, "body", None)
        last = (
            body[0].lineno - 1
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt)
            else best.end_lineno or best.lineno
        )
        yield best.lineno, max(best.lineno, last)


def _unused(module: Module, ignore: Ignore, said: str) -> Finding:
    cell, line = module.source.place(ignore.line)
    text = module.source.line(ignore.line)
    return Finding(
        code=UNUSED_IGNORE,
        name=UNUSED_IGNORE,
        severity="note",
        path=module.shown,
        line=line,
        column=ignore.column,
        end_line=line,
        end_column=len(text) + 1,
        message=said,
        text=text,
        fix="Remove the comment.",
        cell=cell,
        joined_line=ignore.line,
    )


# --------------------------------------------------------------------------------------------- hits


def _finding(hit: Hit) -> Finding:
    entry = find(hit.code)
    if entry is None:
        raise LookupError(f"there is no rule {hit.code}")
    source = hit.module.source
    first, column, last, end_column = source.span(hit.node)
    cell, line = source.place(first)
    patchable = (entry.patch if hit.patchable is None else hit.patchable) and not source.cells
    return Finding(
        code=entry.code,
        name=entry.name,
        severity=hit.severity or entry.severity,
        path=hit.module.shown,
        line=line,
        column=column,
        end_line=source.place(last)[1],
        end_column=end_column,
        message=hit.message,
        text=source.line(first),
        fix=hit.evidence.get("fix")
        or hit.evidence.get("by_hand")
        or one_line(entry, frameworks(hit.module)),
        cell=cell,
        patchable=patchable,
        joined_line=first,
        through=_through(hit.step),
        evidence=dict(hit.evidence),
    )


def _through(step: Step | None) -> tuple[str, ...]:
    if step is None:
        return ()
    calls = [f"{module.shown}:{getattr(node, 'lineno', 1)}" for module, node in step.through]
    return tuple(calls if len(calls) <= MOST_THROUGH else [*calls[: MOST_THROUGH - 1], calls[-1]])


def frameworks(module: Module) -> tuple[str, ...]:
    """The frameworks that a module, what it imports, or what imports it, uses."""
    near = [
        module,
        *module.imports,
        *(other for other in module.project if module in other.imports),
    ]
    roots = [name.partition(".")[0] for one in near for name in sorted(one.imported_names)]
    known = [_ALSO.get(name, name) for name in roots]
    found = dict.fromkeys(name for name in known if name in FRAMEWORKS and name != "numpy")
    beside = [name for name in _WITHOUT_NETS if name in roots]
    return (*found, *beside) if found else (*beside, "python")


def one_line(entry: Entry, used: Iterable[str]) -> str:
    """What to do, as one line: the sentence or the code of the fix, without its imports."""
    fix = entry.fix_for(used)
    if not is_code(fix):
        return fix
    lines = [
        line
        for line in fix.splitlines()
        if line.strip() and not re.match(r"\s*(import |from \S+ import |#)", line)
    ]
    text = (
        "; ".join(line.strip() for line in lines)
        if all(not line.startswith((" ", "}", ")")) for line in lines)
        else lines[0]
    )
    if len(text) <= FIX_LENGTH and not text.endswith((":", "{", "(", ",")) and _is_whole(text):
        return text
    return where_to_read(entry.code)


def where_to_read(code: str) -> str:
    """Stands in the place of a fix that does not fit into one line."""
    return f"see `reprocheck rules {code}`"


def _is_whole(text: str) -> bool:
    """Whether a line of code is not the head of more: its brackets are closed, and it begins no
    block.
    """
    closed = all(text.count(first) == text.count(last) for first, last in ("()", "[]", "{}"))
    return closed and not re.match(r"(with|for|if|while|def|class) ", text)
