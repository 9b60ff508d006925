"""Secrets of 38 kinds, drawn by a seeded generator; `benchmarks.sown` plants them.

The formats are those that the vendors document, not those that the redaction looks for:

- AWS *IAM identifiers*; GitHub *About authentication to GitHub: token formats*; GitLab *Token
  overview*; Slack *Token types*, *Incoming webhooks*; Stripe, OpenAI, SendGrid, Weights & Biases
  *API keys*; Hugging Face *User access tokens*; Google *API keys*, *OAuth client secrets*
- npm *About access tokens*; PyPI *API tokens* (macaroons); Telegram *bot tokens*; PostgreSQL
  *Connection URIs*; MongoDB *Connection strings*; Azure *Storage connection strings*
- RFC 7519 (JWT), RFC 7468 (PEM), RFC 3986 (user and password in a URL), RFC 5322 (e-mail), RFC 791
  and RFC 4291 (addresses), ISO/IEC 7812-1 (cards), ISO 13616 (IBAN), ITU-T E.164 (phones)
- what clients of databases, trackers and cloud stores print: a user, a bucket; what `id`, sockets,
  resolvers, NCCL and Slurm print: groups, a host; paths as Python on Windows prints them
"""

from __future__ import annotations

import base64
import html
import json
import random
import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

LETTERS = string.ascii_letters
MIXED = string.ascii_letters + string.digits
HEX = string.digits + "abcdef"
BASE32 = string.ascii_uppercase + "234567"
BASE64 = MIXED + "+/"
URL_SAFE = MIXED + "-_"


@dataclass(frozen=True, slots=True)
class Planted:
    """A secret: what is written down, and what of it must not come out."""

    kind: str
    text: str
    needles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sender:
    """Whose machine a check comes from."""

    user: str
    host: str

    @property
    def home(self) -> str:
        """The home folder."""
        return f"/home/{self.user}"


Draw = random.Random
Maker = Callable[[Draw, Sender], tuple[str, tuple[str, ...]]]


def drawn(draw: Draw, letters: str, length: int) -> str:
    """Text of these letters."""
    return "".join(draw.choice(letters) for _ in range(length))


def _token(form: Callable[[Draw], str]) -> Maker:
    def make(draw: Draw, sender: Sender) -> tuple[str, tuple[str, ...]]:
        text = form(draw)
        return text, (text,)

    return make


def _name(draw: Draw) -> str:
    consonants, vowels = "bcdfghklmnprstvz", "aeiou"
    syllables = draw.randint(3, 4)
    return "".join(draw.choice(consonants) + draw.choice(vowels) for _ in range(syllables))


def _password(draw: Draw) -> str:
    return drawn(draw, MIXED + "!$*_-.", draw.randint(10, 16))


def _domain(draw: Draw) -> str:
    return f"{_name(draw)}.{draw.choice(['com', 'org', 'io', 'de', 'ac.uk', 'cn'])}"


def _jwt(draw: Draw) -> str:
    header = {"alg": "HS256", "typ": "JWT"}
    claims = {"sub": drawn(draw, string.digits, 10), "name": _name(draw), "iat": 1700000000}
    parts = [_base64url(json.dumps(one).encode()) for one in (header, claims)]
    return ".".join([*parts, _base64url(draw.randbytes(32))])


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _pem(draw: Draw, sender: Sender) -> tuple[str, tuple[str, ...]]:
    body = base64.b64encode(draw.randbytes(320)).decode()
    lines = tuple(body[start : start + 64] for start in range(0, len(body), 64))
    text = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    return text, lines


def _url(form: str) -> Maker:
    def make(draw: Draw, sender: Sender) -> tuple[str, tuple[str, ...]]:
        password = _password(draw)
        text = form.format(user=_name(draw), password=password, host=_domain(draw))
        return text, (password,)

    return make


def _azure(draw: Draw, sender: Sender) -> tuple[str, tuple[str, ...]]:
    key = base64.b64encode(draw.randbytes(64)).decode()
    account = _name(draw)
    text = (
        f"DefaultEndpointsProtocol=https;AccountName={account};AccountKey={key};"
        "EndpointSuffix=core.windows.net"
    )
    return text, (key,)


def _pypi(draw: Draw) -> str:
    return "pypi-AgEIcHlwaS5vcmc" + drawn(draw, URL_SAFE, 140)


def _slack(draw: Draw) -> str:
    numbers = [drawn(draw, string.digits[1:], 12) for _ in range(2)]
    return "-".join(["xoxb", *numbers, drawn(draw, MIXED, 24)])


def _webhook(draw: Draw) -> str:
    team, place = (drawn(draw, string.ascii_uppercase + string.digits, 8) for _ in range(2))
    return f"https://hooks.slack.com/services/T{team}/B{place}/{drawn(draw, MIXED, 24)}"


def _telegram(draw: Draw) -> str:
    return f"{draw.randint(10**8, 10**10 - 1)}:AA{drawn(draw, URL_SAFE, 33)}"


def _email(draw: Draw) -> str:
    return f"{_name(draw)}.{_name(draw)}@{_domain(draw)}"


def _person(draw: Draw, sender: Sender) -> tuple[str, tuple[str, ...]]:
    name = f"{_name(draw).title()} {_name(draw).title()}"
    email = _email(draw)
    return f"{name} <{email}>", (name, email)


def _account(draw: Draw, sender: Sender) -> tuple[str, tuple[str, ...]]:
    form = draw.choice(('login failed for user "{}"', "username={}", "Currently logged in as: {}"))
    name = _name(draw)
    return form.format(name), (name,)


def _bucket(draw: Draw, sender: Sender) -> tuple[str, tuple[str, ...]]:
    bucket = f"{_name(draw)}-{_name(draw)}"
    scheme = draw.choice(("s3", "gs", "hdfs", "obs", "oss"))
    return f"{scheme}://{bucket}/{_name(draw)}/train.bin", (bucket,)


def _groups(draw: Draw, sender: Sender) -> tuple[str, tuple[str, ...]]:
    user, group = _name(draw), _name(draw)
    number = draw.randint(1001, 9999)
    return f"uid={number}({user}) gid={number}({user}) groups={number}({user}),27({group})", (
        user,
        group,
    )


def _windows_path(draw: Draw, sender: Sender) -> tuple[str, tuple[str, ...]]:
    """Below a home folder paths stay, as they do on Linux; else the name of the file alone."""
    user, project = _name(draw), _name(draw)
    form, needles = draw.choice(
        (
            ("C:\\Users\\{}\\{}\\train.py", (user,)),
            ("c:\\users\\{}\\{}\\data", (user,)),
            ("D:/{}/{}/train.bin", (user, project)),
            ("\\\\{}\\{}\\runs\\last.pt", (user, project)),
        )
    )
    return form.format(user, project), needles


_OF_HOSTS = (
    "HTTPSConnectionPool(host='{}', port=443): Max retries exceeded",
    "ssh: connect to host {} port 22: Connection refused",
    'could not translate host name "{}" to address',
    "Cannot connect to host {}:443 ssl:default [Connect call failed]",
    "[c10d] The client socket has failed to connect to [{}]:29500 (errno: 111)",
    "{}:4242:4301 [0] NCCL INFO Bootstrap : Using eth0",
    "srun: error: {}: task 0: Exited with exit code 1",
    "slurmstepd: error: *** STEP 1201.0 ON {} CANCELLED AT",
    "MASTER_ADDR={} MASTER_PORT=29500",
    'connection to server at "{}", port 5432 failed: timeout expired',
)


def _host_of_cluster(draw: Draw, sender: Sender) -> tuple[str, tuple[str, ...]]:
    first = draw.choice((f"{_name(draw)}{draw.randint(1, 99):02}", f"node-{draw.randint(1, 999)}"))
    place = draw.choice(("", f".{_name(draw)}.example", f".{_name(draw)}.hpc.ac.uk"))
    return draw.choice(_OF_HOSTS).format(first + place), (first + place,)


def _iban(draw: Draw) -> str:
    country, length = draw.choice((("DE", 18), ("NL", 14), ("ES", 20), ("CH", 17)))
    rest = drawn(draw, string.digits, length)
    if country == "NL":
        rest = drawn(draw, string.ascii_uppercase, 4) + rest[4:]
    number = int("".join(str(int(letter, 36)) for letter in f"{rest}{country}00"))
    text = f"{country}{98 - number % 97:02}{rest}"
    if draw.random() < 0.5:
        return text
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def _ipv4(draw: Draw) -> str:
    first = draw.choice([10, 172, 192, draw.randint(11, 126)])
    return ".".join(str(one) for one in (first, *(draw.randint(1, 254) for _ in range(3))))


def _ipv6(draw: Draw) -> str:
    groups = [f"{draw.randint(1, 0xFFFF):x}" for _ in range(8)]
    groups[0] = "2001"
    return ":".join(groups)


def _card(draw: Draw) -> str:
    digits = [4, *(draw.randint(0, 9) for _ in range(14))]
    doubled = [sum(divmod(2 * one, 10)) for one in digits[::2]]
    digits.append(-(sum(doubled) + sum(digits[1::2])) % 10)
    text = "".join(map(str, digits))
    if draw.random() < 0.5:
        return text
    return " ".join(text[start : start + 4] for start in range(0, 16, 4))


def _phone(draw: Draw) -> str:
    country, area, number = draw.choice(["1", "44", "49", "86"]), draw.randint(200, 999), []
    number = [str(draw.randint(100, 999)), str(draw.randint(1000, 9999))]
    separator = draw.choice(["", " ", "-"])
    return f"+{country}{separator}{area}{separator}{separator.join(number)}"


def _of_sender(part: Callable[[Sender], str]) -> Maker:
    return lambda draw, sender: (part(sender), (part(sender),))


KINDS: Mapping[str, Maker] = {
    "AWS access key id": _token(lambda draw: "AKIA" + drawn(draw, BASE32, 16)),
    "AWS secret access key": _token(lambda draw: drawn(draw, BASE64, 40)),
    "GitHub token, classic": _token(lambda draw: "ghp_" + drawn(draw, MIXED, 36)),
    "GitHub token, fine-grained": _token(
        lambda draw: f"github_pat_{drawn(draw, MIXED, 22)}_{drawn(draw, MIXED, 59)}"
    ),
    "GitLab token": _token(lambda draw: "glpat-" + drawn(draw, URL_SAFE, 20)),
    "Slack bot token": _token(_slack),
    "Slack webhook": _token(_webhook),
    "Stripe secret key": _token(lambda draw: "sk_live_" + drawn(draw, MIXED, 24)),
    "OpenAI key": _token(
        lambda draw: f"sk-proj-{drawn(draw, URL_SAFE, 74)}T3BlbkFJ{drawn(draw, URL_SAFE, 74)}"
    ),
    "Hugging Face token": _token(lambda draw: "hf_" + drawn(draw, LETTERS, 34)),
    "Google API key": _token(lambda draw: "AIza" + drawn(draw, URL_SAFE, 35)),
    "Google OAuth secret": _token(lambda draw: "GOCSPX-" + drawn(draw, URL_SAFE, 28)),
    "JSON web token": _token(_jwt),
    "private key (PEM)": _pem,
    "password in a URL": _url("https://{user}:{password}@{host}/repo.git"),
    "PostgreSQL connection": _url("postgresql://{user}:{password}@{host}:5432/train"),
    "MongoDB connection": _url("mongodb+srv://{user}:{password}@{host}/runs?retryWrites=true"),
    "Azure connection string": _azure,
    "Weights & Biases key": _token(lambda draw: drawn(draw, HEX, 40)),
    "npm token": _token(lambda draw: "npm_" + drawn(draw, MIXED, 36)),
    "PyPI token": _token(_pypi),
    "SendGrid key": _token(
        lambda draw: f"SG.{drawn(draw, URL_SAFE, 22)}.{drawn(draw, URL_SAFE, 43)}"
    ),
    "Telegram bot token": _token(_telegram),
    "e-mail address": _token(_email),
    "person with an e-mail address": _person,
    "user of a service": _account,
    "bucket of a cloud store": _bucket,
    "groups of a user": _groups,
    "path of Windows": _windows_path,
    "host of a cluster in a message": _host_of_cluster,
    "bank account (IBAN)": _token(_iban),
    "IPv4 address": _token(_ipv4),
    "IPv6 address": _token(_ipv6),
    "name of the host": _of_sender(lambda sender: sender.host),
    "name of the user": _of_sender(lambda sender: sender.user),
    "home folder": _of_sender(lambda sender: sender.home),
    "payment card": _token(_card),
    "phone number": _token(_phone),
}
"""Kind -> what makes one."""


def sender(draw: Draw) -> Sender:
    """A user on a machine of a cluster."""
    return Sender(
        user=_name(draw), host=f"{_name(draw)}{draw.randint(1, 99):02}.{_name(draw)}.internal"
    )


def planted(kind: str, draw: Draw, whose: Sender) -> Planted:
    """One secret of a kind."""
    text, needles = KINDS[kind](draw, whose)
    return Planted(kind, text, needles)


def comes_out(secret: Planted, text: str) -> bool:
    """Whether any part of a secret that must not leave stands in a text. A name is looked for as a
    word: that of the user `ropaga` is no part of `propagation`.
    """
    return any(_stands_in(form, text) for needle in secret.needles for form in _forms(needle))


def _stands_in(form: str, text: str) -> bool:
    if form not in text:
        return False
    is_word = form.isalpha()
    return not is_word or re.search(rf"(?<![A-Za-z]){form}(?![A-Za-z])", text) is not None


def _forms(needle: str) -> Iterator[str]:
    """A text as it is, and as JSON, HTML, Markdown and a shell write it."""
    yield needle
    yield json.dumps(needle, ensure_ascii=False)[1:-1]
    yield html.escape(needle)
    yield "".join(f"\\{letter}" if letter in "\\`*_{}[]|~" else letter for letter in needle)
