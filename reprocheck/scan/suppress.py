"""Read comments that suppress findings.

`# reprocheck: ignore[CODE, name] reason` for a line, and `# reprocheck: ignore-file[CODE, name]
reason` for a whole file.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import filterfalse, starmap

from reprocheck.files.source_text import split
from reprocheck.rules import find, nearest

_COMMENT = re.compile(
    r"#\s*reprocheck:\s*ignore(-file)?(?:\[([^\]]*)\])?(?![\w-])[\s:,–—-]*(.*)", re.IGNORECASE
)
NO_REASON = "no reason given"


@dataclass(eq=False, slots=True)
class Ignore:
    """A comment that suppresses findings.

    line, column  from 1
    codes         the codes of the rules that it names; empty for all rules
    unknown       names in it that are no rule
    reason        the reason that it gives
    whole         whether it is about the whole file, not only its line
    used          the codes of the findings that it suppressed
    """

    line: int
    column: int
    codes: tuple[str, ...]
    unknown: tuple[str, ...]
    reason: str
    whole: bool = False
    used: set[str] = field(default_factory=set)

    def answers(self, code: str) -> bool:
        """Return whether the comment suppresses findings of a code."""
        return code in self.codes or not (self.codes or self.unknown)


def ignores(text: str) -> list[Ignore]:
    """Return the comments in a text that suppress findings."""
    if "reprocheck:" not in text.lower():
        return []
    return list(filter(None, starmap(_ignore, _comments(text))))


def _ignore(line: int, column: int, comment: str) -> Ignore | None:
    match = _COMMENT.search(comment)
    if match is None:
        return None
    of_file, named, reason = match.groups(default="")
    words = filter(None, re.split(r"[\s,]+", named))
    known = [(word, find(word)) for word in words]
    return Ignore(
        line=line,
        column=column + match.start() + 1,
        codes=tuple(entry.code for _, entry in known if entry is not None),
        unknown=tuple(word for word, entry in known if entry is None),
        reason=reason.strip() or NO_REASON,
        whole=bool(of_file),
    )


def _comments(text: str) -> Iterator[tuple[int, int, str]]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError, RecursionError):
        # a text that is no Python, or not to its end: what looks like a comment is taken for one
        for number, line in enumerate(split(text), 1):
            yield from ((number, match.start(), match[0]) for match in _COMMENT.finditer(line))
        return
    comments = (token for token in tokens if token.type == tokenize.COMMENT)
    yield from ((*token.start, token.string) for token in comments)


def answered(ignored: Iterable[Ignore], code: str, lines: Iterable[int]) -> str | None:
    """Return the reason of a comment that suppresses a code; None without such a comment.

    It stands on one of these lines, or is for the whole file.
    """
    wanted = set(lines)
    for ignore in ignored:
        if (ignore.whole or ignore.line in wanted) and ignore.answers(code):
            ignore.used.add(code)
            return ignore.reason
    return None


def complaint(ignore: Ignore) -> str:
    """Return what is wrong with a comment: it names an unknown rule or suppresses nothing.

    Empty if nothing is wrong.
    """
    if ignore.unknown:
        said = f"there is no rule {ignore.unknown[0]}"
        close = nearest(ignore.unknown[0])
        if not close:
            return said
        return f"{said}; {close[0]} is nearest"
    if not ignore.used:
        return "nothing is found here that this comment answers"
    unused = ", ".join(filterfalse(ignore.used.__contains__, ignore.codes))
    if not unused:
        return ""
    return f"nothing is found here that {unused} would answer"
