"""Masks secrets, e-mail addresses and network addresses in texts that a report can carry away.

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

from .everyday_names import USERS

SECRET, EMAIL, ADDRESS, USER = "<secret>", "<email>", "<address>", "<user>"
MARKS = (SECRET, EMAIL, ADDRESS, "<credentials>")
"""What stands in a masked text in place of a value."""


def _words(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


_ALWAYS = _words(
    "password passwords passwd passphrase passcode pwd secret secrets credential credentials apikey"
    " authkey pat authorization"
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
_PASS_OF = _words(
    "db database mysql mariadb postgres postgresql pg sql mssql oracle redis mongo mongodb ldap"
    " smtp imap mail ftp sftp ssh sudo root admin user login proxy http https basic keytab keystore"
    " kerberos truststore vault docker registry git nexus artifactory jenkins grafana jupyter wifi"
    " my master default"
)
"""Parts that make a name of a secret where `pass` or `pw` follows: a `forward_pass` is none."""
_SIGNATURES = _words("signature sig")
_SHORT_FORMS = _words("pass pw")
"""Of `password`."""
_COOKIES = _words("cookie cookies")
_SESSIONS = _words("sessionid sessid phpsessid jsessionid csrftoken xsrftoken identitytoken")
"""Last parts of names of what stands for somebody who is logged in."""
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
_MIXED = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[^\s\"']{8,}")
"""Small letters, capitals and digits: no word and no number."""
_KEY_MATERIAL = re.compile(r"(?=.*\d)[\w+/=-]{32,}")
_FORM_BEHIND = {"key": _KEY_MATERIAL, **dict.fromkeys(_SHORT_FORMS, _MIXED)}
"""Names that say little by themselves -> the form that a secret has behind them."""
_SHORTEST_SIGNATURE = 20
_SHORTEST_KNOWN, _SHORTEST_NUMBER, _SHORTEST_WORD = 6, 8, 12
"""Of values that are masked wherever they stand: short words and numbers mean other things, too."""


def is_secret_name(name: str) -> bool:
    """Return whether an option, variable or dictionary key of this name holds a secret.

    Such are `--hf_token`, `AWS_SECRET_ACCESS_KEY` and `dbPassword`.
    """
    parts = _parts(name)
    if not parts:
        return False
    if not _ALWAYS.isdisjoint(parts):
        return True
    if parts[-1] == "token":
        return _NO_TOKEN.isdisjoint(parts)
    if parts[-1] in _SHORT_FORMS:
        return parts == ["pw"] or not _PASS_OF.isdisjoint(parts[-2:-1])
    if parts[-1] in _COOKIES:
        return True
    return parts[-1] == "key" and len(parts) > 1 and parts[-2] in _KEY_OF


def known_secrets(words: Iterable[str], environment: Mapping[str, str]) -> List[str]:
    """Return the values of secret options and environment variables, line by line.

    Short values are left out, because a search for them in a log would find other texts.
    """
    values = [value for name, value in environment.items() if is_secret_name(name)]
    values += [secret for _, secret in _with_secrets(words)]
    return sorted({line for value in values for line in value.splitlines() if _is_known(line)})


def _with_secrets(words: Iterable[str]) -> Iterator[Tuple[str, str]]:
    """Yield each word of a command, with the secret at its end.

    The secret is the word after a secret option, or the value after `=`; "" for none.
    """
    follows = False
    for word in words:
        if follows and not word.startswith("--"):
            follows = False
            yield word, word
            continue
        # a command of `bash -c` has no value
        name, _, value = word.partition("=")
        is_command = not word.startswith("-") and any(character.isspace() for character in word)
        secret = value if not is_command and is_secret_name(name) else ""
        follows = word.startswith("-") and "=" not in word and is_secret_name(word)
        yield word, secret


def _is_known(value: str) -> bool:
    is_path = value.startswith(("/", "~", "."))  # SSH_AUTH_SOCK, GOOGLE_APPLICATION_CREDENTIALS
    least = _SHORTEST_KNOWN
    if value.isdigit():
        least = _SHORTEST_NUMBER
    elif value.isalpha() and value.islower():
        least = _SHORTEST_WORD
    return len(value) >= least and not is_path


def _parts(name: str) -> List[str]:
    spaced = _CAMEL.sub("_", name)
    return [part.lower() for part in re.split(r"[^A-Za-z0-9]+", spaced) if part]


def _is_secret(name: str, value: str) -> bool:
    """Return whether `value`, which follows `name` in a text, is to be masked."""
    if not value or value.lower() in _HARMLESS or value.startswith(("<", "$", "*", "...")):
        return False
    expression = _EXPRESSION.fullmatch(value)
    if expression and expression.group(1) in _OWNERS:
        return False
    parts = _parts(name)
    if parts and parts[-1] in _SIGNATURES:
        return len(value) >= _SHORTEST_SIGNATURE
    if len(parts) == 1 and parts[0] in _FORM_BEHIND:
        return _FORM_BEHIND[parts[0]].fullmatch(value) is not None
    is_session = bool(parts) and parts[-1] in _SESSIONS
    if not is_session and not is_secret_name(name):
        return False
    if is_session or parts[-1] == "token":
        return any(form.fullmatch(value) for form in (_LONG_RANDOM, _MIXED))
    if parts[-1] == "pwd":
        return not value.startswith("/")  # the shell's working directory
    return _NUMBER.fullmatch(value) is None or not _ALWAYS.isdisjoint(parts)


_TOKEN = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=bot))(?P<value>"
    r"(?:AKIA|ASIA|ABIA|ACCA|AIDA|AROA|ANPA|AGPA)[A-Z0-9]{16}"  # AWS
    r"|hf_[A-Za-z0-9]{20,}|api_org_[A-Za-z0-9]{20,}"  # Hugging Face
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|gl(?:pat|rt|dt)-[\w-]{16,}"
    r"|sk-[\w-]{20,}|[rsp]k_(?:live|test)_\w{16,}|gsk_\w{30,}|r\d_[A-Za-z0-9]{30,}|nvapi-[\w-]{20,}"
    r"|wandb_v\d_\w{20,}|dapi[0-9a-f]{32}|hvs\.[\w-]{20,}|dop_v\d_[0-9a-f]{40,}"
    r"|xox[abeoprs]-[\w-]{10,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r"|AIza[\w-]{30,}|ya\d\d\.[\w-]{20,}|GOCSPX-[\w-]{24,}"
    r"|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}|dckr_pat_[\w-]{20,}|ATATT[\w=-]{30,}"
    r"|(?:xai|pplx|tskey)-[\w-]{20,}|(?:whsec|shpat)_[A-Za-z0-9]{20,}|AGE-SECRET-KEY-[A-Z0-9]{40,}"
    r"|\d{8,10}:AA[\w-]{33}"  # Telegram, a bot
    r"|LS\dtLS\dCRUdJTi[A-Za-z0-9+/=]{20,}"  # Base64 of `-----BEGIN `
    r"|eyJ[\w-]{8,2048}\.[\w-]{8,}(?:\.[\w-]*)?"  # JSON web token
    r")(?![A-Za-z0-9])"
)
_BARE_KEY = re.compile(
    r"(?<![\w/+=-])(?=[a-z0-9/+]*[A-Z])(?=[A-Z0-9/+]*[a-z])(?=[A-Za-z/+]*\d)"
    r"(?P<value>[A-Za-z0-9/+]{40})(?![\w/+=-])"
)
"""An AWS secret key without a name. A commit's hash has no capitals."""
_SPACE = r"[^\S\r\n]*"
_GAP = rf"{_SPACE}(?:\r?\n|\r)?{_SPACE}"
"""Spaces, and one line end at most behind what `GOES_ON` names: only these look at two lines."""
GOES_ON = ":=,("
"""Ends of lines behind which a value may stand in the next one."""
_STRING = r""""(?:[^"\\\r\n]|\\[^\r\n])+"|'(?:[^'\\\r\n]|\\[^\r\n])+'"""
_LITERAL = rf"""(?P<value>\"{{3}}[^"]+\"{{3}}|'{{3}}[^']+'{{3}}|{_STRING})"""
"""Of source code: it may go over several lines."""
_OF_NAMES = tuple(
    sorted(
        _words(
            "pass pw secret credential token key sig _pat -pat sessid sessionid cookie"
            " authorization"
        )
    )
)


def _in_any_case(word: str) -> str:
    """Return a pattern of a word; one that ignores the case of all would be three times slower."""
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


_NAME = rf"(?P<name>(?:{'|'.join(map(_in_any_case, _OF_NAMES))})[\w.\-]{{0,32}})"
"""The end of a name, from the first sign on: a pattern that began with any word would be four times
slower.
"""
_BEFORE_NAME = re.compile(r"[\w.\-]{0,64}\Z")
_PAIR = re.compile(
    rf"""{_NAME}["']?{_SPACE}[=:]{_GAP}(?P<value>{_STRING}|""|''|(?:\\(?![nrt])|[^\s,;&"'(){{}}\[\]\\])+)"""
)
_ANNOTATION = r"(?:\s*:\s*[\w.\[\]| ]{1,40}?(?=\s*=))?"
_ASSIGNED = re.compile(
    rf"""{_NAME}["']?\]?{_ANNOTATION}\s*(?:={{1,2}}|:)\s*\(?[rbufRBUF]{{0,2}}{_LITERAL}"""
)


def _given(space: str, gap: str, value: str) -> "Pattern[str]":
    """Return a pattern for secrets given to calls.

    Such as `setenv("DB_PASSWORD", "…")`, `add_argument("--password", default="…")`.
    """
    given = rf"""["'][\w.-]{{0,64}}?{_NAME}["']{space},{gap}(?:default{space}={space})?{value}"""
    return re.compile(rf"\({space}{given}")


_CALLED = re.compile(rf"{_NAME}\((?P<value>{_STRING})")
"""`set_password("…")`."""
_OPTION = re.compile(
    # or a list of words
    rf"""(?<![\w-])(?P<name>--?[A-Za-z][\w.\-]{{0,64}})(?:[ \t]+|["'],{_GAP})"""
    rf"""(?P<value>{_STRING}|[^\s"'-][^\s"']*)"""
)
_LOGIN = re.compile(
    r"""(?i)(?:\b(?:log_?in|authenticate|set_credentials|\w*basicauth)|\bauth ?= ?)"""
    r"""\((?P<value>[^()\r\n]*)\)"""
)
_ONE_STRING = re.compile(_STRING)
_BEARER = re.compile(
    r"(?i)\b(?:bearer|basic)[^\S\r\n]+(?=[^\s\d=]*[\d=])(?P<value>[A-Za-z0-9._~+/=-]{12,})"
)
_AUTHORIZATION = re.compile(
    r"(?i)(?P<name>authorization)[\"']? ?[:=] ?[\"']?(?:[a-z]+ +)?(?P<value>[^\s\"',;<]{6,})"
)
_WEBHOOK = re.compile(
    r"(?i)https?://(?:hooks\.[\w.-]+|[\w.:-]+(?:/[\w.~-]+){0,6}?/\w*hooks?\w*)/"
    r"(?P<value>[^\s\"'<>)\]},;]+)"
)
_USER = re.compile(
    rf"(?<![\w-])(?:-[uU]|--(?:proxy-)?user|--auth)(?:[ =]+|[\"'],{_GAP})?"
    r"[\"']?[^\s:\"'@/]{1,64}:(?!\d+\b)(?P<value>[^\s\"',]+)"
)
"""`curl -u user:password`."""
_TOOL = re.compile(
    r"(?<![\w.-])(?:(?:sshpass|mysql\w*|mariadb\w*|(?:docker|podman|az|oc|registry) login)\b"
    r"[^\r\n|;&]*?[ \t](?:-p|--password)|(?:redis|valkey)-cli\b[^\r\n|;&]*?[ \t]-a"
    r"|ldap\w+\b[^\r\n|;&]*?[ \t]-w"
    r"|-pass(?:in|out)?[ =]pass:)[ =]?[\"']?(?P<value>[^\s\"'<;|&-][^\s\"';|&]*)"
)
"""Tools that are known to take a password behind an option of one letter."""
_AUTH = re.compile(
    r"""(?<![\w-])(?:["']auth["'] ?: ?["']|_auth ?= ?["']?)(?P<value>[A-Za-z0-9+/]{8,}={0,2})"""
)
"""User and password in the configuration of Docker and npm."""
_NETRC = re.compile(
    r"\blogin[^\S\r\n]+\S+[^\S\r\n]+password[^\S\r\n]+(?P<value>[^\s<]\S*)"
    r"|(?:^|(?<=[\r\n]))[^\S\r\n]*password[^\S\r\n]+(?P<other>[^\s:=<]+)[^\S\r\n]*(?![^\r\n])"
)
_COOKIE = re.compile(
    r"""(?i)(?<![\w])(?P<name>(?:set-)?cookies?)["']? ?[:=] ?"""
    r"""(?P<value>\{[^{}\r\n]*\}|"[^"\r\n]*"|'[^'\r\n]*'|(?!\s)[^\r\n"'<{=]+=[^\r\n"'<{]*)"""
)
_EMAIL = re.compile(
    r"(?<![\w.+-])(?P<value>(?:[\w.+-]|<(?:user|host|argument)>){1,64}@(?:(?:[A-Za-z0-9-]|<(?:user|host|argument)>){1,63}\.)+(?:[a-z]{2}|com|org|net|edu|gov|mil|int|info|biz|name|dev|app|tech|cloud|online"
    r"|local|internal|corp|lan|example|test|invalid))(?![\w(\[-])"
)
"""A part of it may have been masked before, as a name: `<user>@acme.example`."""
_BYTE = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IPV4 = re.compile(rf"(?<![\w.-])(?P<value>(?:{_BYTE}\.){{3}}{_BYTE})(?![\w-]|\.\d)")
_IPV6 = re.compile(
    r"(?i)(?<![\w:.])(?=[0-9a-f]{1,4}:[^\s,;\]]{0,64})(?=[^\s,;\]]{0,64}\d)(?P<value>(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}"
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
_KEY_REST = re.compile(r"[A-Za-z0-9+/=]{16,}")
"""What is masked behind the begin of a key that was cut."""
_JOINED = re.compile(r"-[A-Za-z](?=[^=])")
"""An option of one letter, with its value behind it."""
_HOME = re.compile(r"(?<![\w.~-])/(?:home|Users)/(?P<value>[^/\s:\"'<>]+)")


class _Rule(NamedTuple):
    """A pattern whose group `value` is masked.

    One of its words stands (in small letters) in each text that can match; none: always tried.

    accepts by the name before a value, where the pattern has one values whether each string within
    the group is masked, and not the whole
    """

    signs: Tuple[str, ...]
    pattern: Pattern[str]
    mark: str = SECRET
    accepts: "Callable[[Match[str], str], bool]" = lambda match, value: True
    values: bool = False


class Redactor:
    """Mask secrets in texts, and count them.

    One object follows one log, because a private key may be cut at the end of a part of the log.

    known  values that are masked wherever they stand, see `known_secrets`
    """

    def __init__(self, known: "Iterable[str]" = ()) -> None:
        self._known = sorted(known, key=len, reverse=True)
        self.count = 0
        """Values that were masked so far."""
        self.in_key = False
        """Whether the last line stood within a private key."""

    def text(self, text: str) -> str:
        """Return a text with secrets masked: a log or a part of one, a traceback, a message.

        The number of lines stays the same.
        """
        text = self.keys(self.without_known(text))
        return self._apply(_OF_TEXT, text)

    def arguments(self, words: Iterable[str]) -> List[str]:
        """Return the words of a command with secrets masked.

        The word after an option whose name tells a secret is masked, whatever the word looks like.
        """
        hidden = []
        for word, secret in _with_secrets(words):
            if secret:
                hidden.append(word[: len(word) - len(secret)] + self._masked(SECRET))
            else:
                hidden.append(self._word(word))
        return hidden

    def _word(self, word: str) -> str:
        """Return a word of a command, masked; what follows a one-letter option is a text itself."""
        joined = _JOINED.match(word)
        shown = self.text(word)
        if joined is None or shown != word:
            return shown
        return joined.group() + self.text(word[joined.end() :])

    def source(self, text: str) -> str:
        """Return source code with secrets masked inside of literals and comments only.

        The result can be parsed as before.
        """
        text = self.keys(self.without_known(text))
        return self._in_literals(self._apply(_OF_SOURCE, text))

    def path(self, path: str) -> str:
        """Return the path of a file with tokens masked; any other path stays as it is."""
        return self._apply((_TOKENS,), path)

    def variable(self, name: str, value: str) -> str:
        """Return the value of an environment variable that bears on numbers, masked."""
        if name.upper().endswith("IFNAME"):
            return "<interface>"
        return self._apply(_OF_VARIABLES, value)

    def _masked(self, mark: str) -> str:
        self.count += mark != USER
        return mark

    def without_known(self, text: str) -> str:
        """Return a text without the values that are masked wherever they stand."""
        for value in self._known:
            if value in text:
                self.count += text.count(value)
                text = text.replace(value, SECRET)
        return text

    def _apply(self, rules: "Iterable[_Rule]", text: str) -> str:
        small = text.lower()
        for rule in rules:
            if not rule.signs or any(sign in small for sign in rule.signs):
                text = rule.pattern.sub(lambda match, rule=rule: self._shown(rule, match), text)  # type: ignore[misc]
        return text

    def _shown(self, rule: _Rule, match: Match[str]) -> str:
        """Return a match with the mark in place of its value."""
        span = match.span("value")
        if span[0] < 0:
            span = match.span("other")
        start, end = (place - match.start() for place in span)
        text = match.group()
        value, quote = text[start:end], ""
        if not rule.values:
            value, quote = _unquoted(value)
        if not rule.accepts(match, value):
            return text
        if rule.values:
            shown = _ONE_STRING.sub(self._string, value)
        else:
            shown = self._masked(rule.mark) + "\n" * value.count("\n")
        return text[:start] + quote + shown + quote + text[end:]

    def keys(self, text: str) -> str:
        """Return the lines of private keys, each masked, so that later lines keep their numbers."""
        if not self.in_key and "PRIVATE KEY" not in text:
            return text
        lines = text.splitlines(keepends=True)
        return "".join(self._key_line(line) for line in lines)

    def _key_line(self, line: str) -> str:
        if self.in_key:
            if _KEY_END in line or not _KEY_LINE.fullmatch(line):
                self.in_key = False
                return line
            return _KEY_RUN.sub(SECRET, line)
        begin = _KEY_BEGIN.search(line)
        if begin is None:
            return line
        self.count += 1
        end = line.find(_KEY_END, begin.end())
        if end >= 0:  # the whole key in one literal, its line ends escaped
            return line[: begin.end()] + SECRET + line[end:]
        self.in_key = True
        return line[: begin.end()] + _KEY_REST.sub(SECRET, line[begin.end() :])

    def _string(self, match: Match[str]) -> str:
        """Return a string of an argument, masked where it is not yet."""
        quote = match[0][0]
        return match[0] if match[0][1] == "<" else quote + self._masked(SECRET) + quote

    def _in_literals(self, text: str) -> str:
        """Return texts with secrets masked in literals and comments only.

        Elsewhere in code `x@w.to` is a product of matrices and no address. Commands of a notebook,
        and code that cannot be parsed, are treated as text.
        """
        lines = text.splitlines(keepends=True)
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        except (tokenize.TokenError, SyntaxError, ValueError):
            return self._apply(_OF_TEXT, text)
        for token in reversed(tokens):
            if tokenize.tok_name[token.type] not in _LITERALS:
                continue
            for row in range(token.end[0], token.start[0] - 1, -1):
                line = lines[row - 1]
                start = token.start[1] if row == token.start[0] else 0
                end = token.end[1] if row == token.end[0] else len(line)
                shown = self._apply(_OF_LITERALS, line[start:end])
                lines[row - 1] = line[:start] + shown + line[end:]
        for number, line in enumerate(lines):
            if line.lstrip().startswith(("!", "%")):
                lines[number] = self._apply(_OF_TEXT, line)
        return "".join(lines)


def _is_value(match: Match[str], value: str) -> bool:
    start = match.start("name")
    before = _BEFORE_NAME.search(match.string[max(0, start - 64) : start])
    name = (before.group() if before else "") + match["name"]
    return _is_secret(name, value)


def _is_no_prose(match: Match[str], value: str) -> bool:
    """Return the same as `_is_value`, but False for a word that others follow.

    Such as `password: the one that you got`.
    """
    is_prose = _PLAIN_WORD.fullmatch(value) and _NEXT_WORD.match(match.string, match.end())
    return not is_prose and _is_value(match, value)


def _is_option(match: Match[str], value: str) -> bool:
    name = match["name"].lower()
    is_seen = any(sign in name for sign in _OF_NAMES)
    return is_seen and is_secret_name(match["name"]) and not value.startswith("<")


def _is_word(match: Match[str], value: str) -> bool:
    return value.lower() not in _HARMLESS


def _is_of_a_network(match: Match[str], value: str) -> bool:
    """Return whether an address identifies a machine; the number of a version does not."""
    start = match.start()
    before = match.string[max(0, start - _LONGEST_BEFORE) : start]
    line = before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
    return not _VERSION_BEFORE.search(line) and not value.startswith(_OPEN_ADDRESSES)


def _is_of_a_user(match: Match[str], value: str) -> bool:
    return value.lower() not in USERS


_LITERALS = _words("STRING COMMENT FSTRING_MIDDLE TSTRING_MIDDLE")
_PLAIN_WORD = re.compile(r"[A-Za-z][a-z]*[.:]?")
_NEXT_WORD = re.compile(r"[ \t]+[a-z`(]")
_QUOTES = ('"', "'")
_TOKENS = _Rule((), _TOKEN)
_BARE_KEYS = _Rule((), _BARE_KEY)
_LOGINS = _Rule(("login(", "log_in(", "authenticate(", "credentials(", "auth"), _LOGIN, values=True)
_CALLS = _Rule(_QUOTES, _CALLED, accepts=_is_value)
_GIVEN = _Rule(_QUOTES, _given(_SPACE, _GAP, f"(?P<value>{_STRING})"), accepts=_is_value)
_GIVEN_IN_SOURCE = _Rule(_OF_NAMES, _given(r"\s*", r"\s*", _LITERAL), accepts=_is_value)
_ADDRESSES = (
    _Rule(("@",), _EMAIL, EMAIL),
    _Rule((), _IPV4, ADDRESS, _is_of_a_network),
    _Rule((":",), _IPV6, ADDRESS, _is_of_a_network),
)
_HOMES = _Rule(("/home/", "/users/"), _HOME, USER, _is_of_a_user)
_OF_SOURCE = (
    _TOKENS,
    _Rule(_OF_NAMES, _ASSIGNED, accepts=_is_value),
    _GIVEN_IN_SOURCE,
    _CALLS,
    _LOGINS,
)
_OF_VARIABLES = (_TOKENS, _BARE_KEYS, *_ADDRESSES, _HOMES)


def _of_text(accepts: "Callable[[Match[str], str], bool]") -> Tuple[_Rule, ...]:
    return (
        _Rule(("bearer", "basic"), _BEARER),
        _Rule(("authorization",), _AUTHORIZATION, accepts=_is_value),
        _TOKENS,
        _BARE_KEYS,
        _Rule(("hook",), _WEBHOOK),
        _Rule(("-u", "--auth"), _USER),
        _Rule(("sshpass", "mysql", "mariadb", "login", "-cli", "ldap", "pass:"), _TOOL),
        _Rule(("auth",), _AUTH),
        _Rule(("password",), _NETRC, accepts=_is_word),
        _Rule(("cookie",), _COOKIE, accepts=_is_value),
        _Rule(_OF_NAMES, _PAIR, accepts=accepts),
        _Rule(_OF_NAMES, _OPTION, accepts=_is_option),
        _GIVEN,
        _CALLS,
        _LOGINS,
        *_ADDRESSES,
        _HOMES,
    )


_OF_TEXT, _OF_LITERALS = _of_text(_is_value), _of_text(_is_no_prose)
SIGNS = frozenset(sign for rule in _OF_TEXT for sign in rule.signs if len(sign) > 1) | _words(
    "akia asia abia acca aida aroa anpa agpa hf_ api_org_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_"
    " glpat- glrt- gldt- sk- k_live_ k_test_ gsk_ r#_ nvapi- wandb_v dapi hvs. dop_v xox sg. aiza"
    " ya##. gocspx- npm_ pypi- dckr_pat_ atatt xai- pplx- tskey- whsec_ shpat_ :aa ls#tls# eyj"
)
"""One of them (in small letters, `#` for a digit) stands in each line in which `text` masks
anything but a key without a name and an address.
"""


def _unquoted(value: str) -> Tuple[str, str]:
    """Return a value without its quotation marks, and the mark."""
    if len(value) > 5 and value[:3] in ('"""', "'''") and value.endswith(value[:3]):
        return value[3:-3], value[:3]
    if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]:
        return value[1:-1], value[0]
    return value, ""
