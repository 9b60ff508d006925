"""International numbers of bank accounts (ISO 13616)."""

from __future__ import annotations

import re

from reprocheck.language import mark
from reprocheck.redaction.patterns import Pattern, always_shown

_LENGTHS = (
    "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20"
    " EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27"
    " JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18"
    " NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 SV28 TL23 TN24 TR26"
    " UA29 VA22 VG24 XK20"
)
"""Country and number of letters and digits, as SWIFT's registry lists them."""
_COUNTRIES = "|".join(
    rf"{one[:2]}\d{{2}}(?:[ -]?[A-Z0-9]){{{int(one[2:]) - 4}}}" for one in _LENGTHS.split()
)


def is_account(found: str) -> bool:
    """Whether the checksum of ISO 7064 (MOD 97-10) is right.

    >>> is_account("GB82 WEST 1234 5698 7654 32"), is_account("GB83 WEST 1234 5698 7654 32")
    (True, False)
    """
    number = re.sub("[ -]", "", found)
    moved = number[4:] + number[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


BANK_ACCOUNTS = Pattern(
    kind=mark("bank account"),
    regex=re.compile(rf"(?<![A-Za-z0-9])(?:{_COUNTRIES})(?![A-Za-z0-9])"),
    shown=always_shown("<number>"),
    accepted=is_account,
)
