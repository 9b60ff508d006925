"""International numbers of bank accounts (ISO 13616)."""

from __future__ import annotations

import re

from reprocheck.redaction.lists import LISTS
from reprocheck.redaction.patterns import masked

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
