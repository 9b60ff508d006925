"""Secrets, e-mail addresses and network addresses are taken out of the texts that a report can
carry to other people.

Shared by the recorder and the parent process: arguments, logs, tracebacks and kept source go
through the same patterns. The formats of tokens are those that their issuers publish, as gitleaks
and GitHub's secret scanning list them. Standard library only, Python 3.9. The recorder imports this
module only for a text with a sign of a secret (`masking.may_hold_secret`): `re` is not imported
into a script that does not use it.
"""

import io
import re
import tokenize
from typing import (
    Callable,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    Match,
    NamedTuple,
    Pattern,
    Tuple,
)

from .everyday import USERS

SECRET, EMAIL, ADDRESS, USER = "<secret>", "<email>", "<address>", "<user>"
MARKS = (SECRET, EMAIL, ADDRESS, "<credentials>")
"""What stands in a masked text in place of a value."""

# -------------------------------------------------------------------------------------------- names


def _words(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


_ALWAYS = _words(
    "password passwd passphrase passcode pwd secret secrets credential credentials apikey"
    " authkey pat"
)
"""Parts of a name each of which makes it the name of a secret."""
_KEY_OF = _words(
    "api access secret private wandb openai anthropic hf huggingface encryption ssh license "
    "account auth storage comet neptune mlflow azure aws gcp google service deploy signing "
    "client session host shared master subscription project"
)
"""Parts that make a name of a secret where `key` follows."""
_NO_TOKEN = _words(
    "pad eos bos unk sep cls mask per next new max min num special start end image prompt stop "
    "first last oov word text mem vocab begin target source class blank ignore label audio "
    "video visual latent register dist fake n of"
)
"""Parts beside which `token` is one of a tokenizer's."""
_SIGNATURES = _words("signature sig")
_HARMLESS = _words(
    "none null nil true false yes no str int float bytes bool optional required any bearer basic"
    " token string undefined default"
)
_OWNERS = _words(
    "args arg cfg config conf self os settings opts options params kwargs environ hparams env"
    " getpass"
)
"""First parts of an expression: `password=args.password` in a traceback holds no secret."""

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?%?")
_EXPRESSION = re.compile(r"([A-Za-z_]\w*)(?:\.[A-Za-z_]\w*)+")
_LONG_RANDOM = re.compile(r"(?=.*\d)[\w+/=.~-]{16,}")
_KEY_MATERIAL = re.compile(r"(?=.*\d)[\w+/=-]{32,}")
_SHORTEST_SIGNATURE = 20
_SHORTEST_KNOWN = 6


def is_secret_name(name: str) -> bool:
    """Whether an option, a variable or a key of this name holds a secret: `--hf_token`,
    `AWS_SECRET_ACCESS_KEY`, `dbPassword`.
    """
    parts = _parts(name)
    if not parts:
        return False
    if not _ALWAYS.isdisjoint(parts):
        return True
    if parts[-1] == "token":
        return _NO_TOKEN.isdisjoint(parts)
    return parts[-1] == "key" and len(parts) > 1 and parts[-2] in _KEY_OF


def known_secrets(words: Iterable[str], environment: Mapping[str, str]) -> List[str]:
    """Values of secret options and variables that are long enough to be found again in a log
    without finding other things.
    """
    found = [value for name, value in environment.items() if is_secret_name(name)]
    found += [secret for _, secret in _with_secrets(words)]
    return sorted({value for value in found if _is_known(value)})


def _with_secrets(words: Iterable[str]) -> Iterator[Tuple[str, str]]:
    """Each word of a command, and the secret at its end: the word behind a secret option, the value
    behind `=`, "" for none.
    """
    follows = False
    for word in words:
        if follows and not word.startswith("--"):
            follows = False
            yield word, word
            continue
        secret = _value_in(word)
        follows = word.startswith("-") and "=" not in word and is_secret_name(word)
        yield word, secret


def _value_in(word: str) -> str:
    """The value of `--password=P` or `db.password=P`; "" where the word holds no secret, or is a
    command of `bash -c`.
    """
    name, _, value = word.partition("=")
    is_command = not word.startswith("-") and any(character.isspace() for character in word)
    return value if not is_command and is_secret_name(name) else ""


def _is_known(value: str) -> bool:
    is_path = value.startswith(("/", "~", "."))  # SSH_AUTH_SOCK, GOOGLE_APPLICATION_CREDENTIALS
    is_word = (value.isalpha() and value.islower()) or value.isdigit()
    return (
        len(value) >= _SHORTEST_KNOWN
        and not is_path
        and (not is_word or len(value) >= 2 * _SHORTEST_KNOWN)
    )


def _parts(name: str) -> List[str]:
    spaced = _CAMEL.sub("_", name)
    return [part.lower() for part in re.split(r"[^A-Za-z0-9]+", spaced) if part]


def _is_secret(name: str, value: str) -> bool:
    """Whether `value`, which stands behind `name` in a text, is to be masked."""
    if not value or value.lower() in _HARMLESS or value.startswith(("<", "$", "*", "...")):
        return False
    expression = _EXPRESSION.fullmatch(value)
    if expression and expression.group(1) in _OWNERS:
        return False
    parts = _parts(name)
    if parts and parts[-1] in _SIGNATURES:
        return len(value) >= _SHORTEST_SIGNATURE
    if parts == ["key"]:
        return _KEY_MATERIAL.fullmatch(value) is not None
    if not is_secret_name(name):
        return False
    if parts[-1] == "token":
        return _LONG_RANDOM.fullmatch(value) is not None
    if parts[-1] == "pwd":
        return not value.startswith("/")  # the shell's working directory
    return _NUMBER.fullmatch(value) is None or not _ALWAYS.isdisjoint(parts)


# ----------------------------------------------------------------------------------------- patterns

_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"(?:AKIA|ASIA|ABIA|ACCA|AIDA|AROA|ANPA|AGPA)[A-Z0-9]{16}"  # AWS
    r"|hf_[A-Za-z0-9]{20,}|api_org_[A-Za-z0-9]{20,}"  # Hugging Face
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|sk-[\w-]{20,}|[rsp]k_(?:live|test)_\w{16,}|gsk_\w{30,}|r8_[A-Za-z0-9]{30,}|nvapi-[\w-]{20,}"
    r"|wandb_v\d_\w{20,}|dapi[0-9a-f]{32}|hvs\.[\w-]{20,}|dop_v1_[0-9a-f]{40,}"
    r"|xox[abeoprs]-[\w-]{10,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r"|AIza[\w-]{30,}|ya29\.[\w-]{20,}"
    r"|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}"
    r"|eyJ[\w-]{8,2048}\.[\w-]{8,}(?:\.[\w-]*)?"  # JSON web token
    r")(?![A-Za-z0-9])"
)
_BARE_KEY = re.compile(
    r"(?<![\w/+=-])(?=[a-z0-9/+]*[A-Z])(?=[A-Z0-9/+]*[a-z])(?=[A-Za-z/+]*\d)"
    r"[A-Za-z0-9/+]{40}(?![\w/+=-])"
)
"""An AWS secret key without a name. A commit's hash has no capitals."""
_BEARER = re.compile(r"(?i)\b(bearer|basic)(\s+)(?=[^\s\d=]*[\d=])([A-Za-z0-9._~+/=-]{12,})")
_SIGNS = r"passw|passphrase|passcode|pwd|secret|credential|token|key|sig|_pat|-pat"
_NAME = rf"(?P<name>(?:{_SIGNS})[\w.\-]{{0,32}})"
"""The end of a name, from the first sign on: a pattern that began with any word would be four times
slower.
"""
_BEFORE_NAME = re.compile(r"[\w.\-]{0,64}$")
_PAIR = re.compile(
    rf"""(?i){_NAME}(?P<between>["']?\s*(?:=|:)\s*)"""
    r"""(?P<value>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^\s,;&"'(){}\[\]]+)"""
)
_LITERAL = re.compile(
    rf"""(?i){_NAME}(?P<between>["']?\]?\s*(?:=|:)\s*[rbu]{{0,2}})"""
    r"""(?P<value>"(?:[^"\\\n]|\\.)+"|'(?:[^'\\\n]|\\.)+')"""
)
_OPTION = re.compile(
    # or a list of words
    r"""(?<![\w-])(?P<name>--?[A-Za-z][\w.\-]{0,64})(?P<between>[ \t]+|["'],\s{0,8})"""
    r"""(?P<value>"[^"\n]*"|'[^'\n]*'|[^\s"'-][^\s"']*)"""
)
_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+(?:[a-z]{2}|com|org|net|edu|gov|mil|int|info|biz|name|dev|app|tech|cloud|online"
    r"|local|internal|corp|lan|example|test|invalid)(?![\w(\[-])"
)
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IPV4 = re.compile(rf"(?<![\w.-])(?:{_BYTE}\.){{3}}{_BYTE}(?![\w-]|\.\d)")
_IPV6 = re.compile(
    r"(?i)(?<![\w:.])(?=[^\s,;\]]{0,64}\d)(?:(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}"
    r"|(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6})(?![\w:])"
)
"""Of six bytes it is the address of a network card. The look ahead ends somewhere: a line without
an end would be read again from each of its letters.
"""
_VERSION_BEFORE = re.compile(
    r"(?i)(?:==|[<>~!]=|\b(?:v|release|driver|build|runtime|cuda|cudnn|cublas|nccl|cann|hdk|rocm|mkl"
    r"|lib\w*)\W{0,3}|(?<![A-Za-z])versions?[\W_]{0,6}|(?<![\w-])(?:nvidia|opencv)-[\w-]{1,32}\s{1,16})$"
)
_LONGEST_BEFORE = 56
"""Characters before a number of four parts that can say that it is a version."""
_OPEN_ADDRESSES = ("127.", "0.", "255.")
"""Addresses that say nothing about a network: this machine itself, no machine (RFC 1122), masks."""
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = "-----END "
_KEY_LINE = re.compile(
    r"[\s>|#\"'+]*(?:[A-Za-z0-9+/=]{1,128}|(?:Proc-Type|DEK-Info|Version|Comment): .*)?[\s\"',\\n]*"
)
_KEY_RUN = re.compile(r"[A-Za-z0-9+/=]{4,}")
"""What is masked of a line of a key: quotation marks around it stay."""
_HOME = re.compile(r"(?<![\w.~-])(/home/|/Users/)([^/\s:\"'<>]+)")


class _Rule(NamedTuple):
    """A pattern, and words one of which stands (in small letters) in each text that can match;
    none: always tried.
    """

    signs: Tuple[str, ...]
    pattern: Pattern[str]
    act: Callable[["Redactor", Match[str]], str]


class Redactor:
    """Takes secrets out of texts and counts them.

    One object follows one log: a private key may be cut at the end of a text. `known`: values that
    are masked wherever they stand, see `known_secrets`.
    """

    def __init__(self, known: "Iterable[str]" = ()) -> None:
        self._known = sorted(known, key=len, reverse=True)
        self.count = 0
        """Values that were masked so far."""
        self._in_key = False

    def text(self, text: str) -> str:
        """A log or a part of one, a traceback, a message. Lines keep their number."""
        text = self.keys(self._without_known(text))
        return self._apply(_OF_TEXT, text)

    def arguments(self, words: Iterable[str]) -> List[str]:
        """The words of a command.

        What follows an option whose name says that it is a secret is masked, whatever it looks
        like.
        """
        hidden = []
        for word, secret in _with_secrets(words):
            if secret:
                hidden.append(word[: len(word) - len(secret)] + self._masked(SECRET))
            else:
                hidden.append(self.text(word))
        return hidden

    def source(self, text: str) -> str:
        """Source code, which can be parsed afterwards as before: values are masked inside of
        literals and comments alone.
        """
        text = self.keys(self._without_known(text))
        text = self._apply(_OF_SOURCE, text)
        in_literals = "@" in text or any(pattern.search(text) for pattern in (_IPV4, _BARE_KEY))
        return self._in_literals(text) if in_literals else text

    def variable(self, name: str, value: str) -> str:
        """The value of an environment variable that bears on numbers."""
        if name.upper().endswith("IFNAME"):
            return "<interface>"
        return self._apply(_OF_VARIABLES, value)

    # ---------------------------------------------------------------------------------------- rules

    def _masked(self, mark: str) -> str:
        self.count += 1
        return mark

    def _without_known(self, text: str) -> str:
        for value in self._known:
            if value in text:
                self.count += text.count(value)
                text = text.replace(value, SECRET)
        return text

    def _apply(self, rules: "Iterable[_Rule]", text: str) -> str:
        small = text.lower()
        for rule in rules:
            if not rule.signs or any(sign in small for sign in rule.signs):
                act = rule.act
                text = rule.pattern.sub(lambda match, act=act: act(self, match), text)  # type: ignore[misc]
        return text

    def _whole(self, match: Match[str]) -> str:
        return self._masked(SECRET)

    def _email(self, match: Match[str]) -> str:
        return self._masked(EMAIL)

    def _bearer(self, match: Match[str]) -> str:
        return match.group(1) + match.group(2) + self._masked(SECRET)

    def _address(self, match: Match[str]) -> str:
        found = match.group()
        before = match.string[max(0, match.start() - _LONGEST_BEFORE) : match.start()]
        if found.startswith(_OPEN_ADDRESSES) or _VERSION_BEFORE.search(before):
            return found
        return self._masked(ADDRESS)

    def _home(self, match: Match[str]) -> str:
        if match.group(2).lower() in USERS:
            return match.group()
        return match.group(1) + USER

    def _pair(self, match: Match[str]) -> str:
        value, quote = _unquoted(match.group("value"))
        start = match.start()
        before = _BEFORE_NAME.search(match.string[max(0, start - 64) : start])
        name = (before.group() if before else "") + match.group("name")
        if not _is_secret(name, value):
            return match.group()
        return match.group("name") + match.group("between") + quote + self._masked(SECRET) + quote

    def _option(self, match: Match[str]) -> str:
        value, quote = _unquoted(match.group("value"))
        if not is_secret_name(match.group("name")) or value.startswith("<"):
            return match.group()
        return match.group("name") + match.group("between") + quote + self._masked(SECRET) + quote

    # --------------------------------------------------------------------------------- private keys

    def keys(self, text: str) -> str:
        """The lines of private keys, each masked, so that the lines behind them keep their
        numbers.
        """
        if not self._in_key and "PRIVATE KEY" not in text:
            return text
        lines = text.splitlines(keepends=True)
        return "".join(self._key_line(line) for line in lines)

    def _key_line(self, line: str) -> str:
        if self._in_key:
            if _KEY_END in line or not _KEY_LINE.fullmatch(line):
                self._in_key = False
                return line
            return _KEY_RUN.sub(SECRET, line)
        begin = _KEY_BEGIN.search(line)
        if begin is None:
            return line
        self.count += 1
        end = line.find(_KEY_END, begin.end())
        if end >= 0:  # the whole key in one literal, its line ends escaped
            return line[: begin.end()] + SECRET + line[end:]
        self._in_key = True
        return line

    # --------------------------------------------------------------------------------------- source

    def _in_literals(self, text: str) -> str:
        """E-mail and network addresses in literals and comments: `x@w.to` in code is a product of
        matrices.
        """
        lines = text.splitlines(keepends=True)
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        except (tokenize.TokenError, SyntaxError, ValueError):
            return text
        for token in reversed(tokens):
            if tokenize.tok_name[token.type] not in _LITERALS:
                continue
            for row in range(token.end[0], token.start[0] - 1, -1):
                line = lines[row - 1]
                start = token.start[1] if row == token.start[0] else 0
                end = token.end[1] if row == token.end[0] else len(line)
                lines[row - 1] = (
                    line[:start] + self._apply(_OF_LITERALS, line[start:end]) + line[end:]
                )
        return "".join(lines)


_LITERALS = _words("STRING COMMENT FSTRING_MIDDLE TSTRING_MIDDLE")
_TOKENS = _Rule((), _TOKEN, Redactor._whole)
_BARE_KEYS = _Rule((), _BARE_KEY, Redactor._whole)
_ADDRESSES = (
    _Rule(("@",), _EMAIL, Redactor._email),
    _Rule((), _IPV4, Redactor._address),
    _Rule((":",), _IPV6, Redactor._address),
)
_NAMES = tuple(_SIGNS.split("|"))
_HOMES = _Rule(("/home/", "/users/"), _HOME, Redactor._home)
_OF_LITERALS = (_BARE_KEYS, *_ADDRESSES)
_OF_SOURCE = (_TOKENS, _Rule(_NAMES, _LITERAL, Redactor._pair))
_OF_VARIABLES = (_TOKENS, _BARE_KEYS, *_ADDRESSES, _HOMES)
_OF_TEXT = (
    _Rule(("bearer", "basic"), _BEARER, Redactor._bearer),
    _TOKENS,
    _BARE_KEYS,
    _Rule(_NAMES, _PAIR, Redactor._pair),
    _Rule(_NAMES, _OPTION, Redactor._option),
    *_ADDRESSES,
    _HOMES,
)


def _unquoted(value: str) -> Tuple[str, str]:
    """A value without its quotation marks, and the mark."""
    if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]:
        return value[1:-1], value[0]
    return value, ""
