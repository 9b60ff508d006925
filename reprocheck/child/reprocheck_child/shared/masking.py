"""Masks home folder, user name, host name and URL credentials in everything that is written.

Shared by the recorder and the parent process. Standard library only, Python 3.9, and no regular
expressions: `re` is not imported into a script that does not use it.

A name is masked where it stands as a whole word: no letter or digit before it, no letter, digit or
underscore after it, so that `torchinductor_anna` is masked and `anna_model` is not. Names that are
everyday words (`root`, `user`, `localhost`) tell nothing about anybody and stay.
"""

from __future__ import annotations

import os

from .everyday_names import HOSTS, USERS

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import List, Tuple

CREDENTIALS = "<credentials>"
_SIGNS = (
    "pass pwd pw= pw: pw' pw\" -pw _pw secret credential token key _pat -pat sig bearer basic auth "
    "@ cookie sessid sessionid login log_in( hook -u --user -cli ldap mysql mariadb "
    "/home/ /users/ hf_ api_org_ ghp_ gho_ ghu_ ghs_ ghr_ glpat- glrt- gldt- sk- k_live k_test "
    "gsk_ r8_ nvapi- wandb_v dapi hvs. dop_v1 xox sg. aiza ya29. gocspx- npm_ pypi- dckr_ atatt "
    "xai- pplx- tskey- whsec_ shpat_ :aa ls0tls1 eyj akia asia abia acca aida aroa anpa agpa"
)
SIGNS = tuple(_SIGNS.split())
"""In small letters: one of them stands in each text that holds a secret with a known form or
name.
"""
_BARE_KEY = 40
"""Letters of a key without a name."""
_DIGITS = dict.fromkeys(map(ord, "0123456789"))
END_OF_AUTHORITY = "/?#\"'<>\\ \t\r\n"
LONGEST_AUTHORITY = 1024
_JOINED_BEFORE = frozenset("_-.~")
"""What stands before a path that is only the end of a longer one."""
IN_PATH = "/~"
"""A home folder that is a part of a longer path: copies of folders lie there."""
_BEFORE_AUTHORITY = ":/"
"""In `ssh://root` the second slash begins no path, in `file:///root` the third one does."""


def identity() -> Tuple[str, str, str]:
    """Return the home folder, user name and host name of this process, as `mask` takes them.

    An unknown one is "".
    """
    home = os.path.expanduser("~")
    user = _user(home)
    if home == "~":  # what is left where nothing tells it
        home = ""
    return home, user, os.uname().nodename


def _user(home: str) -> str:
    user = os.environ.get("LOGNAME") or os.environ.get("USER")
    if user:
        return user
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError, OSError):
        return os.path.basename(home)


def mask(text: str, home: str, user: str, host: str) -> str:
    """Return `text` with the home folder as `~`, and names as `<user>` and `<host>`.

    URL credentials become `<credentials>` first, since a name may be a part of them.
    """
    text = _mask_credentials(text)
    for needle, replacement, is_path in needles(home, user, host):
        if needle in text:
            text = _replace(text, needle, replacement, is_path)
    return text


def may_hold_secret(text: str) -> bool:
    """Return whether a text may hold a secret that `redaction` would mask.

    The test is fast and needs no regular expressions.
    """
    small = text.lower()
    if text.count(".") > 2 or text.count(":") > 3 or any(sign in small for sign in SIGNS):
        return True
    return len(text) >= _BARE_KEY and any(map(_is_like_a_key, _words(text)))


def _is_like_a_key(word: str) -> bool:
    """Return whether a word looks like an access key: long, with a capital letter and a digit.

    A path without separators usually has neither.
    """
    return len(word) >= _BARE_KEY and word != word.lower() and word.translate(_DIGITS) != word


def _words(text: str) -> List[str]:
    """Return the runs of letters, digits, slashes and plus signs."""
    return "".join(
        character if character.isalnum() or character in "/+" else " " for character in text
    ).split()


def unmask(text: str, home: str, user: str, host: str) -> str:
    """Return the path that `mask` was given on this machine, by this user."""
    text = f"{text}/".replace(f"{IN_PATH}/", f"{home}/")[:-1]
    if (text + "/").startswith("~/"):
        text = home + text[1:]
    return text.replace("<user>", user).replace("<host>", host)


def needles(home: str, user: str, host: str) -> List[Tuple[str, str, bool]]:
    """Return (text to find, replacement, whether the text is a path), the longest text first."""
    replacements = []
    home = home.rstrip("/")
    if home.count("/") and len(home) > 1:
        replacements.append((home, "~", True))
    if _tells(user, USERS):
        replacements.append((user, "<user>", False))
    for name in {host, host.split(".")[0]}:
        if _tells(name, HOSTS):
            replacements.append((name, "<host>", False))
    return sorted(replacements, key=lambda item: (-len(item[0]), item))


def _tells(name: str, everyday: frozenset[str]) -> bool:
    """Return whether a user name or host name identifies somebody, unlike `root` or `localhost`."""
    return len(name) > 1 and name.lower() not in everyday


def _replace(text: str, needle: str, replacement: str, is_path: bool) -> str:
    parts, done, at = [], 0, text.find(needle)
    while at >= 0:
        end = at + len(needle)
        if _stands_alone(text, at, end, is_path):
            is_in_path = is_path and text[at - 1 : at].isalnum()
            parts += [text[done:at], IN_PATH if is_in_path else replacement]
            done = end
        at = text.find(needle, end)
    return "".join(parts) + text[done:]


def _stands_alone(text: str, start: int, end: int, is_path: bool) -> bool:
    before, after, later = text[start - 1 : start], text[end : end + 1], text[end + 1 : end + 2]
    if after.isalnum() or after == "_":
        return False
    if not is_path:
        return not before.isalnum()
    if before.isalnum() and not may_be_in_path(text[start:end]):
        return False
    if before in _JOINED_BEFORE or after == "-" or text[:start].endswith(_BEFORE_AUTHORITY):
        return False
    return not later.isalnum() or after != "."


def may_be_in_path(home: str) -> bool:
    """Return whether a home folder is also masked inside of longer paths.

    The home folder `/root` is not, because `/data/root` reveals nothing.
    """
    return home.count("/") > 1


def _mask_credentials(text: str) -> str:
    parts, done, at = [], 0, text.find("://")
    while at >= 0:
        start = end = at + 3
        limit = min(len(text), start + LONGEST_AUTHORITY)
        while end < limit and text[end] not in END_OF_AUTHORITY:
            end += 1
        sign = text.rfind("@", start, end)
        if sign > start:
            parts += [text[done:start], CREDENTIALS]
            done = sign
        at = text.find("://", end)
    return "".join(parts) + text[done:]
