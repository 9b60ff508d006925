"""What is looked for around a token: accounts of people, and where their data and projects lie.

Messages of clients and servers say these in forms of their own: `for user "anna"`, `logged in as
anna`, `Anna Li <anna@…>`, `scp anna@node1:/data`, `s3://bucket/data`.
"""

from __future__ import annotations

import re

from reprocheck.child.reprocheck_child.shared.everyday_names import HOSTS, USERS
from reprocheck.redaction.lists import LISTS
from reprocheck.redaction.patterns import Pattern, masked

_NAME = r"[^\W_](?:[\w.-]{0,62}\w)?"
_CAPITALISED = r"(?![a-z])[^\W\d_][\w.'’-]*"
_PERSON = rf"(?:{_CAPITALISED}(?: {_CAPITALISED}){{0,3}}|\"[^\"\n]{{1,64}}\")"
_REST = r"[^\s\"'<>()\[\]{},;`]*[^\s\"'<>()\[\]{},;`:.!?]"
"""What an address goes on with."""
_BEGIN = r"(?:(?<!\w)|(?<=[^\w-]-[A-Za-z])|(?<=^-[A-Za-z]))"
"""Of a word: behind an option of one letter its value follows at once."""
_STORES = "s3|s3a|s3n|gs|gcs|abfs|abfss|wasb|wasbs|az|hdfs|oss|obs|cos|r2|swift|dbfs|tos|bos"


def _file_of(found: str) -> str:
    """Return the name of the file without its path, if there is a file."""
    _, slash, name = found.rpartition("/")
    return f"<path>/{name}" if slash and name else "<path>"


def _user(regex: str) -> Pattern:
    return masked(
        "user name",
        regex,
        "<user>",
        lambda found: found.lower() not in USERS and not found.isdigit(),
        group=1,
    )


ACCOUNTS: tuple[Pattern, ...] = (
    masked("name of a person", rf"({_PERSON}) <<email>>", "<name>", group=1),
    _user(rf"(?i)(?<!\w)(?:for|as|by) user[ :]+[\"'`]?({_NAME})"),
    _user(rf"(?i)(?<!\w)logged in as:? [\"'`]?({_NAME}(?: \([\w.-]+\))?)"),
    _user(rf"(?i)(?<![A-Za-z])user(?:_?name)?[\"']?\s*[=:]\s*[\"']?({_NAME})(?![\w.(\[])"),
    _user(rf"(?<!\w)e?[ug]id=\d+\(({_NAME})\)"),
    Pattern(
        kind="user name",
        regex=re.compile(rf"(?<!\w)groups=(\d+\({_NAME}\)(?:,\d+\({_NAME}\))*)"),
        # as `id` prints them, by their numbers
        shown=lambda groups: re.sub(r"\([^)]*\)", "(<user>)", groups),
        group=1,
    ),
    masked(
        "token, key or password",
        r"(?i)(?<![A-Za-z0-9])pw[\"']?\s*[=:]\s*[\"']?([^\s\"',;()<]{4,})",
        "<secret>",
        group=1,
    ),
    masked("e-mail address", r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z][\w-]*(?=:[/~\w])", "<email>"),
    Pattern(
        kind="place of data",
        regex=re.compile(rf"(?i){_BEGIN}(?:{_STORES})://({_REST})"),
        shown=_file_of,
        group=1,
    ),
)
"""Tried before the patterns of `patterns`, in this order."""
ADDRESSES: tuple[Pattern, ...] = (
    masked(
        "host name",
        r"(?<=[a-z0-9]://)([A-Za-z][\w-]*)(?=[:/])",
        "<host>",
        lambda found: found.lower() not in HOSTS,
    ),
    masked(
        "place of data",
        rf"(?:<email>:|://(?:<credentials>@)?<host>(?::\d+)?/)({_REST})",
        "<path>",
        group=1,
    ),
    masked(
        "place of data",
        rf"(?<!\w)(?:github\.com|huggingface\.co|hf\.co)[:/]({_REST})",
        "<path>",
        lambda found: found.partition("/")[0].lower() not in LISTS.public_owners,
        group=1,
    ),
)
"""Tried after them, when hosts are masked."""


_COUNTRIES = "|".join(
    rf"{one[:2]}\d{{2}}(?:[ -]?[A-Z0-9]){{{int(one[2:]) - 4}}}" for one in LISTS.bank_accounts
)


def is_account(found: str) -> bool:
    """Return whether the checksum of ISO 7064 (MOD 97-10) is right.

    >>> is_account("GB82 WEST 1234 5698 7654 32"), is_account("GB83 WEST 1234 5698 7654 32")
    (True, False)
    """
    number = re.sub("[ -]", "", found)
    moved = number[4:] + number[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


BANK_ACCOUNTS = masked(
    "bank account",
    rf"(?<![A-Za-z0-9])(?:{_COUNTRIES})(?![A-Za-z0-9])",
    "<number>",
    is_account,
)
