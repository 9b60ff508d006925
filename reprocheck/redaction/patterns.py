"""Describe what is looked for beside tokens.

Numbers of cards and phones, names of hosts, folders of the machine, and text that looks as if it
had been drawn at random.

Each pattern has the kind under which its finds are counted, and the mark that takes their place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from reprocheck.child.reprocheck_child.shared.everyday_names import HOSTS
from reprocheck.redaction.lists import LISTS

LONGEST_NAME = 14
"""A piece of a name of at least as many letters and digits is asked whether it looks random."""
CHANGES = 0.25
"""Share of neighbours of another class (capital, small letter, digit) from which on it does.

Text drawn from 62 letters and digits has 0.44 (0.61 without what `Camel` takes away), hexadecimal
digits 0.47; names such as `TransformerEncoderLayer2` stay below 0.2.
"""
LEAST_OF_ADDRESS, LARGEST_BYTE = 10, 255
"""Of four numbers and more behind a name, the largest is at least so much where they are taken for
an address; modules nested four deep in lists have fewer than ten parts each.
"""
CHANGES_OF_A_KEY = 7
"""Likewise of 40 letters: random ones of 64 have 17, a path of that length has 5 or so."""
_INTERNAL_TOPS = "internal|local|lan|corp|intranet|cluster|home"
PLAIN_TOPS = f"com|org|net|edu|gov|mil|int|{_INTERNAL_TOPS}"
SYSTEM = ("/usr/", "/lib/", "/lib64/", "/dev/", "/proc/", "/sys/", "/bin/", "/etc/")
"""Folders that each machine has."""
_HOME = re.compile(r"^/(?:home|Users)/[^/]+|^/root(?=/|$)")
_LIBRARY = re.compile(r"^.*/(?:site-packages|dist-packages|lib/python3\.\d+)/")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pattern:
    """A regular expression, a test of its matches, and the text shown instead.

    The test is `accepted`, the text `shown`.

    group   the group of the match that is removed; 0 for the whole match
    """

    kind: str
    regex: re.Pattern[str]
    shown: Callable[[str], str]
    accepted: Callable[[str], bool] = lambda text: True
    group: int = 0


def masked(
    kind: str,
    regex: str,
    mark: str,
    accepted: Callable[[str], bool] = lambda text: True,
    group: int = 0,
) -> Pattern:
    """Return a pattern whose finds are all shown as the same mark."""
    return Pattern(
        kind=kind,
        regex=re.compile(regex),
        shown=lambda text: mark,
        accepted=accepted,
        group=group,
    )


def is_card(found: str) -> bool:
    """Return whether the digits are those of a payment card.

    First digit 2 to 6, and the checksum of ISO/IEC 7812-1 (Luhn).
    """
    digits = [int(letter) for letter in found if letter.isdigit()]
    if not 13 <= len(digits) <= 19 or not 2 <= digits[0] <= 6:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def is_address(found: str) -> bool:
    """Return whether numbers behind a name (`blocks.0.10.23.13.197`) can hold an IPv4 address.

    Nothing says which four of them it would be, so that all of them are taken for it; small ones
    alone are indices of nested modules (`stages.0.1.0.2`).
    """
    numbers = [int(part) for part in re.findall(r"\d+", found)]
    return max(numbers) >= LEAST_OF_ADDRESS and max(numbers) <= LARGEST_BYTE


def looks_random(found: str) -> bool:
    """Return whether a text looks as if it had been drawn at random.

    The longest piece between separators changes between capitals, small letters and digits as often
    as random text does.
    """
    longest = max(re.split(r"[^A-Za-z0-9]+", found), key=len)
    if len(longest) < LONGEST_NAME or longest.isdigit() or longest.isalpha():
        return False
    changes = sum(_changes(one, other) for one, other in pairwise(longest))
    return changes / (len(longest) - 1) >= CHANGES


def is_key_in_a_path(found: str) -> bool:
    """Return whether 40 letters behind a slash are a secret key of AWS.

    It may hold slashes itself: the recorder's pattern takes such a text for a path.
    """
    pieces = re.findall(r"[A-Za-z0-9]+", found)
    changes = sum(_changes(*pair) for piece in pieces for pair in pairwise(piece))
    return changes >= CHANGES_OF_A_KEY


def _changes(one: str, other: str) -> bool:
    begins_a_word = one.isupper() and other.islower()
    return _class(one) != _class(other) and not begins_a_word


def _class(letter: str) -> int:
    return 2 * letter.isdigit() + letter.isupper()


def place(path: str) -> str:
    """Return a path without the folders of this machine.

    Relative to the project, from `~`, from the folder of a library, or its name alone.

    >>> place("/srv/acme/data/train.bin")
    '<path>/train.bin'
    """
    if path.startswith(SYSTEM) and "/python3" not in path:
        return path
    if _LIBRARY.match(path):
        return _LIBRARY.sub("<python>/", path)
    if _HOME.match(path):
        return _HOME.sub("~", path)
    if path.startswith("/"):
        return f"<path>/{path.rstrip('/').rpartition('/')[2]}"
    if path.startswith("../"):
        return f"<path>/{path.rpartition('/')[2]}"
    return path


_OF_PATHS = r"(?:[\w.@+=%,-]|<user>)"
PATHS = Pattern(
    kind="folder of the machine",
    regex=re.compile(rf"(?<![\w.~/<>:-])/(?:{_OF_PATHS}+/)+{_OF_PATHS}*"),
    shown=place,
    accepted=lambda found: place(found) != found,
)
PATTERNS: tuple[Pattern, ...] = (
    masked(
        "payment card",
        r"(?<![\w.])(?:\d[ -]?){12,18}\d(?!\w|\.\d)|(?<!\w)\d{4}(?:[ -]\d{4}){3}(?!\w)",
        "<number>",
        is_card,
    ),
    masked(
        "payment card",
        r"(?<=[A-Za-z_\])]\.)(?:\d{1,3}\.)*\d{13,19}(?![\w.])",
        "<number>",
        # the last number behind a name, such as `blocks.0.4111111111111111`
        lambda found: is_card(found.rpartition(".")[2]),
    ),
    masked(
        "phone number",
        r"(?<![\w+])\+[1-9][\d ()-]{6,20}\d(?!\w)"
        r"|(?<![\w.-])(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}(?![\w-])",
        "<number>",
        # as many digits as ITU-T E.164 lets a number have
        lambda found: 8 <= sum(letter.isdigit() for letter in found) <= 15,
    ),
    masked(
        "network address",
        r"(?i)(?<![0-9a-z:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])",
        "<address>",
    ),
    masked(
        "network address",
        r"(?<=[A-Za-z_\])]\.)(?<!\.so\.)(?:\d{1,3}\.){3,}\d{1,3}(?![\w-]|\.\d)"
        r"|(?<![\w.-])ip-\d{1,3}(?:-\d{1,3}){3}(?![\w-])",
        "<address>",
        is_address,
    ),
    masked(
        "token, key or password",
        r"(?<=/)[A-Za-z0-9/+]{40}(?![A-Za-z0-9+=])",
        "<secret>",
        is_key_in_a_path,
    ),
    masked(
        "identifier (UUID)",
        r"(?i)(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)",
        "<secret>",
    ),
    masked("long hexadecimal number", r"(?i)(?<![0-9a-z])[0-9a-f]{32,}(?![0-9a-z])", "<secret>"),
    masked(
        "host name",
        r"(?<![\w.@/-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.){2,}"
        rf"(?:{PLAIN_TOPS}|(?<=\d\.)[a-z]{{2}})(?![\w.(-])"
        rf"|(?<![\w.@/-])[a-z][a-z0-9]*-[a-z0-9-]*[a-z0-9]\.(?:{_INTERNAL_TOPS})(?![\w.(-])"
        r"|(?<=://)(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?![\w.-])"
        r"|(?<=@)(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?=[:/])",
        "<host>",
        lambda found: not found.lower().endswith(LISTS.public_sites),
    ),
    masked(
        "random-looking text",
        r"(?<![A-Za-z0-9])[A-Za-z0-9][A-Za-z0-9+/=_~-]{15,}",
        "<secret>",
        looks_random,
    ),
)
"""In the order in which they are tried."""


_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_NAME = rf"{_LABEL}(?:\.{_LABEL}){{0,6}}"
_NUMBERED = r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9-])?\d"
"""The first label of a machine of a cluster: `node-17`, `gpu07`, `dgx-a100-03`."""
_OF_CLUSTER = rf"{_NUMBERED}(?:\.{_LABEL}){{0,6}}"
_END = r"(?![\w(\[-]|\.\w)"
_QUOTE = r"\\{0,2}[\"']"
"""As it is, and within another literal."""
_TOPS = "|".join(LISTS.tops_of_hosts)
_FIELDS = "host(?:_?name)?|node_?name|server|master_?addr(?:ess)?|rdzv_?endpoint|peer"
_LISTS = "node_?list|hosts|nodes"


def _tells_a_host(found: str) -> bool:
    """Return whether a name in the place of a host name identifies a host."""
    small = found.lower()
    is_number = small.replace(".", "").isdigit()
    return not is_number and small not in HOSTS and not small.endswith(LISTS.public_sites)


def _host(regex: str) -> Pattern:
    return masked("host name", regex, "<host>", _tells_a_host, group=1)


NAMED_HOSTS: tuple[Pattern, ...] = (
    # a field: in quotation marks whatever stands there, else what no expression looks like
    _host(
        rf"(?i)(?<![A-Za-z])(?:{_FIELDS})(?:{_QUOTE})?\s*[=:]\s*{_QUOTE}({_NAME})(?::\d+)?{_QUOTE}"
    ),
    _host(rf"(?<![A-Za-z])(?i:{_FIELDS})\s*[=:]\s*({_OF_CLUSTER}){_END}"),
    _host(rf"(?<![A-Za-z])(?i:{_LISTS})[\"']?\s*[=:]\s*[\"'\[]*([a-z][a-z0-9-]*\[[\d,-]+\])"),
    # messages of sockets, resolvers and clients
    _host(rf"(?i)(?<!\w)host(?: ?name)?:? [\"']?({_NAME})[\"']?(?= port \d|:\d| to address)"),
    _host(rf"(?i)(?<!\w)(?:resolve|lookup|unknown) host(?:name)?:? [\"']?({_NAME})(?![\w.(\[-])"),
    _host(rf"(?i)(?<!\w)(?:resolve|reach|connect to) '({_NAME})'(?= \(\[Errno)"),
    _host(rf"(?i)(?<!\w)(?:server at|connect(?:ion|ing|ed)? to) \"({_NAME})\""),
    _host(
        r"(?<!\w)(?i:server at|connect(?:ion|ing|ed)? to|reach|contact|ping"
        rf"|(?:refused|reset|closed) by(?: peer)?) [\"'\[]?({_OF_CLUSTER}){_END}"
    ),
    _host(rf"(?<!\w)(?i:connect(?:ion|ing|ed)? to|on|at) \[({_NAME})\](?=:\d)"),
    # logs of NCCL and Slurm
    _host(rf"(?<![\w.-])({_NAME})(?=:\d+:\d+ \[\d+\] NCCL)"),
    _host(rf"(?<!\w)(?:srun|slurmstepd): (?:error: |fatal: )?({_NAME})(?=: task)"),
    _host(rf"(?<!\w)(?:STEP|JOB) [\w.+]+ ON ({_NAME})(?= CANCELLED)"),
    # forms that other things do not have
    _host(rf"(?<![\w.@/-])({_NUMBERED}(?:\.{_LABEL}){{1,6}}\.(?:{_TOPS})){_END}"),
    _host(r"(?<![\w.@/-])((?:node|dgx|hgx|compute|login|worker|host)-?\d+)(?=:\d{4,5}(?!\w))"),
)
"""Tried before the patterns of `patterns`, in this order."""
