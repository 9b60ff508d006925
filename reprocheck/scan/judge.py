"""Find all findings of a project.

Every check runs on every module, what another finding says is dropped, and ignore comments are
applied.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import filterfalse, groupby
from operator import attrgetter
from pathlib import Path

from reprocheck.files.source_text import UnreadableError
from reprocheck.language import tr
from reprocheck.rules import Entry, find
from reprocheck.rules.fix_text import FixFrom, is_code
from reprocheck.scan.aliases import FRAMEWORKS
from reprocheck.scan.checks.certainty import lowered
from reprocheck.scan.checks.other_programs import is_below_guard, is_chore, is_trial
from reprocheck.scan.checks.repetition import with_repetition
from reprocheck.scan.finding import UNUSED_IGNORE, Finding, Unreadable
from reprocheck.scan.index import last_line
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Check, Hit, checks
from reprocheck.scan.suppress import Ignore, answered, complaint, ignores
from reprocheck.scan.values import WALK
from reprocheck.scan.vocabulary import by_name, words

_ANSWERED: Mapping[str, frozenset[str]] = {
    "RC402": frozenset({"RC404", "RC407", "RC504", "RC505"}),
    "RC404": frozenset({"RC407", "RC504", "RC505"}),
    "RC503": frozenset({"RC402", "RC404", "RC407", "RC504", "RC505"}),
    "RC509": frozenset({"RC514"}),
    **dict.fromkeys(("RC304", "RC502", "RC504", "RC601", "RC705", "RC802"), frozenset({"RC407"})),
}
"""What a rule says, others say again of the same expression or of a part of it: a seed that is
drawn from the operating system is one matter, and the generator in it is no second one.
"""


def each_once(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without repetitions of another one of the expression around."""
    kept = []
    for _, group in groupby(sorted(findings, key=_file), key=_file):
        here = list(group)
        kept += [one for one in here if not any(_answers(other, one) for other in here)]
    return kept


def _file(finding: Finding) -> str:
    return finding.path


def _answers(one: Finding, other: Finding) -> bool:
    is_same_matter = other.code in _ANSWERED.get(one.code, ())
    return is_same_matter and _start(one) <= _start(other) and _end(other) <= _end(one)


def _start(finding: Finding) -> tuple[int, int]:
    return finding.joined_line, finding.column


def _end(finding: Finding) -> tuple[int, int]:
    return finding.joined_line + finding.end_line - finding.line, finding.end_column


_WITHOUT_NETS = ("sklearn", "numpy")
_WITH_NETS = frozenset(FRAMEWORKS) - {"numpy"}
MOST_THROUGH = 6
FIX_LENGTH = 110
_NO_CODE = re.compile(r"\s*(import |from \S+ import |#|$)")
"""Lines of a fix that its one line leaves out."""
_BEGINS_BLOCK = re.compile(r"(with|for|if|while|def|class) ")
_ALSO = by_name("packages", "made_for")


def findings(project: Project) -> list[Finding]:
    """Return all findings of a project, suppressed ones too, by file and line."""
    found, problems = judged(list(project))
    problems = [problem for problem in problems if not problem.partly]
    if problems:
        raise RuntimeError("; ".join(f"{problem.path}: {problem.reason}" for problem in problems))
    return finished(project, found)


def judged(modules: Sequence[Module]) -> tuple[list[Finding], list[Unreadable]]:
    """Return what the checks find in all modules of a project, and the problems that occurred."""
    found: list[Finding] = []
    problems: list[Unreadable] = []
    for judgement in list(map(begun, modules)):
        some, wrong = ended(judgement)
        found += some
        problems += wrong
    return found, problems


@dataclass(eq=False, slots=True)
class Judgement:
    """The findings in a module so far.

    found       findings by rule and place
    problems    what could not be followed or checked
    is_cut      whether the execution was not followed to its end
    is_deep     whether that is because the code is nested too deeply
    is_trial    whether the program of the module only tries out the module
    is_chore    whether the program is no training and its file name says so, as `plot_results.py`
    has_failed  whether the execution raised an error
    """

    module: Module
    found: dict[tuple[object, ...], Finding] = field(default_factory=dict)
    problems: dict[Unreadable, None] = field(default_factory=dict)
    is_cut: bool = False
    is_deep: bool = False
    is_trial: bool = False
    is_chore: bool = False
    has_failed: bool = False


def begun(module: Module) -> Judgement:
    """Execute a module if it is a program, and check the program.

    `ended` follows once this was done with all modules, because only then it is known which
    functions no program reaches.
    """
    judgement = Judgement(module)
    WALK.links = 0
    try:
        if module.is_entry:
            judgement.is_trial = is_trial(module.program)
            judgement.is_chore = is_chore(module.program)
            _look(judgement, module.program)
    except Exception as error:
        _failed(judgement, error)
    judgement.is_cut |= WALK.is_over
    return judgement


def ended(judgement: Judgement) -> tuple[list[Finding], list[Unreadable]]:
    """Check the text of a module, and its functions that no program reaches.

    Returns all findings of the module and all problems.
    """
    module = judgement.module
    if judgement.has_failed or is_test(module):
        return [], list(judgement.problems)
    WALK.links = 0
    try:
        orders = module.parts
        if not module.is_entry:
            orders = module.orders
    except Exception as error:
        _failed(judgement, error)
        return list(judgement.found.values()), list(judgement.problems)
    for order in orders:
        _look(judgement, order)
    for one in checks():
        _keep_hits(judgement, one, partial(one.hits, module))
    judgement.is_cut |= WALK.is_over
    problems = list(judgement.problems)
    limit = ""
    if judgement.is_deep:
        limit = "nested too deeply to be followed to its end"
    elif judgement.is_cut:
        limit = (
            "so many calls that not all of them were followed: findings in what they lead to may be"
            " missing"
        )
    if limit:
        problems.append(Unreadable(path=module.shown, reason=limit, partly=True))
    return list(judgement.found.values()), problems


def _look(judgement: Judgement, order: Order) -> None:
    """Run all checks on an order of steps, and keep what they find."""
    if is_test(judgement.module):
        return
    judgement.is_cut |= order.cut
    judgement.is_deep |= order.deep
    for one in checks():
        _keep_hits(judgement, one, partial(_hits_in, order, one))


def _hits_in(order: Order, check: Check) -> Iterator[Hit]:
    """Yield the hits of a check in an order, with their severity lowered by doubts."""
    for hit in check.hits_in(order):
        entry = _entry(hit)
        severity = lowered(order, hit, hit.severity or entry.severity)
        yield with_repetition(order, replace(hit, severity=severity), entry)


def _keep_hits(judgement: Judgement, check: Check, hits: Callable[[], Iterable[Hit]]) -> None:
    """Keep the hits of a check, or note that the check raised an error."""
    try:
        for hit in hits():
            if judgement.is_chore or hit.module.outside or is_test(hit.module):
                continue
            if judgement.is_trial and hit.step and is_below_guard(judgement.module, hit.step):
                continue
            _keep(judgement.found, _finding(hit))
    except Exception as error:
        what = f"the check of {', '.join(check.codes)} failed here"
        judgement.problems[_problem(judgement.module, what, error)] = None


def _failed(judgement: Judgement, error: Exception) -> None:
    judgement.has_failed = True
    judgement.problems[_problem(judgement.module, "it could not be followed", error)] = None


def is_test(module: Module) -> bool:
    """Return whether a module is a test in a scanned folder.

    Tests train only to look at the training.

    Return False for a file that the user named itself.
    """
    path = Path(module.shown)
    imports_tests = not _OF_TESTS.isdisjoint(module.imported_names)
    stands_in_tests = not _TEST_FOLDERS.isdisjoint(path.parent.parts)
    if module.single or not (imports_tests or stands_in_tests):
        return False
    return bool(_TEST_FILE.match(path.stem))


_TEST_FILE = re.compile(r"test_|conftest$|\w+_test$")
_TEST_FOLDERS = frozenset({"test", "tests"})
_OF_TESTS = words("folders", "of_tests")


def _problem(module: Module, what: str, error: Exception) -> Unreadable:
    if isinstance(error, UnreadableError):
        return Unreadable(path=module.shown, reason=f"{what}: {error.reason}")
    if isinstance(error, RecursionError):
        return Unreadable(path=module.shown, reason="nested too deeply to be followed")
    return Unreadable(path=module.shown, reason=f"{what}: {type(error).__name__}: {error}")


def _keep(found: dict[tuple[object, ...], Finding], finding: Finding) -> None:
    """Keep the most severe of several findings at one place.

    Of equal ones that which the fewest calls lead to.
    """
    key = (finding.code, finding.path, finding.joined_line, finding.column)
    found[key] = min(found.get(key, finding), finding, key=_rank)


def finished(project: Project, found: Iterable[Finding]) -> list[Finding]:
    """Return findings in order, each place once, with ignore comments applied.

    Comments that suppress nothing are findings, too.
    """
    comments = {module.shown: _comments(module) for module in project.asked}
    by_path = {module.shown: module for module in project}
    unique: dict[tuple[object, ...], Finding] = {}
    for finding in found:
        _keep(unique, finding)
    done = [
        _suppressed(finding, by_path[finding.path], comments[finding.path])
        for finding in each_once(unique.values())
    ]
    for module in project.asked:
        done += [
            _unused(module, ignore, said)
            for ignore in comments[module.shown]
            if (said := complaint(ignore))
        ]
    return sorted(done, key=lambda one: (one.path, one.joined_line, one.column, one.code))


def _comments(module: Module) -> list[Ignore]:
    try:
        return ignores(module.source.text)
    except UnreadableError:  # it was changed while it was scanned, which is said already
        return []


def _rank(finding: Finding) -> tuple[int, int]:
    return (("error", "warning", "note").index(finding.severity), len(finding.through))


def _suppressed(finding: Finding, module: Module, comments: list[Ignore]) -> Finding:
    if not comments:
        return finding
    around = module.index.statements_on(finding.joined_line)
    innermost = max(around, key=attrgetter("lineno"), default=None)
    ends: list[int] = []
    if innermost is not None:
        # first and last line of the statement; of one with a body, its head
        first, last = innermost.lineno, last_line(innermost)
        match getattr(innermost, "body", None):
            case [ast.stmt(lineno=body), *_]:
                last = body - 1
        ends = [first, max(first, last)]
    lines = {finding.joined_line, *ends}
    if not module.source.cells:
        lines.add(finding.end_line)
    reason = answered(comments, finding.code, lines)
    if reason is None:
        return finding
    return replace(finding, suppressed=reason)


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


def _finding(hit: Hit) -> Finding:
    entry = _entry(hit)
    source = hit.module.source
    first, column, last, end_column = source.span(hit.node)
    cell, line = source.place(first)
    fix, fix_from = _fix(hit, entry)
    patchable = entry.patch
    if hit.patchable is not None:
        patchable = hit.patchable
    passed = hit.step.through if hit.step is not None else ()
    through = [f"{module.shown}:{getattr(node, 'lineno', 1)}" for module, node in passed]
    del through[MOST_THROUGH - 1 : -1]
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
        fix=fix,
        fix_from=fix_from,
        cell=cell,
        patchable=patchable and not source.cells,
        joined_line=first,
        through=tuple(through),
        evidence=dict(hit.evidence),
    )


def _entry(hit: Hit) -> Entry:
    """Return the catalogue entry of a hit. Raises LookupError."""
    entry = find(hit.code)
    if entry is None:
        raise LookupError(f"there is no rule {hit.code}")
    return entry


def _fix(hit: Hit, entry: Entry) -> tuple[str, FixFrom]:
    """Return the fix for a place, of the check or else of the rule, and which it is."""
    own = [hit.evidence[key] for key in ("fix", "by_hand") if hit.evidence.get(key)]
    if own:
        return own[0], "place"
    # What to do, as one line: the sentence or the code of the fix, without its imports; "" where
    # it does not fit into one
    used = frameworks(hit.module)
    fix = tr(entry.fix_for(used))
    of_rule = fix
    if is_code(fix):
        lines = [line for line in fix.splitlines() if not _NO_CODE.match(line)]
        text = "; ".join(map(str.strip, lines))
        if any(line.startswith((" ", "}", ")")) for line in lines):
            text = lines[0]
        of_rule = text
        if len(text) > FIX_LENGTH or not _is_whole(text):
            of_rule = ""
    if of_rule:
        return of_rule, "catalogue"
    # it does not fit into one line
    return tr("see `reprocheck rules {code}`", code=entry.code), "page"


def frameworks(module: Module) -> tuple[str, ...]:
    """Return the frameworks that a module, its imports, or its importers use."""
    importers = [other for other in module.project if module in other.imports]
    roots: list[str] = []
    for one in (module, *filterfalse(attrgetter("outside"), (*module.imports, *importers))):
        roots += [name.partition(".")[0] for name in sorted(one.imported_names)]
    known = [_ALSO.get(name, name) for name in roots]
    found = dict.fromkeys(name for name in known if name in _WITH_NETS)
    beside = [name for name in _WITHOUT_NETS if name in roots]
    if not found:
        return (*beside, "python")
    return (*found, *beside)


def _is_whole(text: str) -> bool:
    """Return whether a line of code is complete: brackets are closed, no block begins."""
    if text.endswith((":", "{", "(", ",")) or _BEGINS_BLOCK.match(text):
        return False
    return all(text.count(first) == text.count(last) for first, last in ("()", "[]", "{}"))
