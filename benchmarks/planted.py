"""Secrets of 31 kinds, drawn by a seeded generator, and checks in which they are planted.

The formats are those that the vendors document, not those that the redaction looks for:

- AWS *IAM identifiers*; GitHub *About authentication to GitHub: token formats*; GitLab *Token
  overview*; Slack *Token types*, *Incoming webhooks*; Stripe, OpenAI, SendGrid, Weights & Biases
  *API keys*; Hugging Face *User access tokens*; Google *API keys*, *OAuth client secrets*
- npm *About access tokens*; PyPI *API tokens* (macaroons); Telegram *bot tokens*; PostgreSQL
  *Connection URIs*; MongoDB *Connection strings*; Azure *Storage connection strings*
- RFC 7519 (JWT), RFC 7468 (PEM), RFC 3986 (user and password in a URL), RFC 5322 (e-mail), RFC 791
  and RFC 4291 (addresses), ISO/IEC 7812-1 (cards), ITU-T E.164 (phones)
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from reprocheck.model import (
    RUNGS,
    Bitwise,
    Cause,
    Check,
    CheckRecord,
    Comparison,
    Divergence,
    EntryPoint,
    FileChanges,
    Ladder,
    OutcomeGroup,
    Outcomes,
    Process,
    Run,
    Rung,
    RunRecord,
    Series,
    SeriesComparison,
    Setting,
    SourceLine,
    Tolerance,
    Trace,
    Verdict,
)
from reprocheck.model.trace import Checked, LossSeries

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


# ------------------------------------------------------------------------------------------- places

_IN_LOGS = (
    "connecting with {}",
    "INFO:root:token={} epoch=1",
    "[rank0] using {} for upload",
    "{}",
    'config: {{"endpoint": "{}", "retries": 3}}',
)
_IN_SOURCE = (
    'client = Client("{}")',
    "login(key='{}')",
    "# ask {} before changing this",
    'os.environ["REMOTE"] = "{}"  # noqa',
)
_IN_TRACEBACKS = (
    'Traceback (most recent call last):\n  File "train.py", line 12, in <module>\n    main()\n'
    "ValueError: cannot reach {}",
    "RuntimeError: 401 Client Error for {}\n",
)
_IN_NOTEBOOKS = ("Out[3]: '{}'", "<Figure size 640x480>\n{}\n", "{{'key': '{}'}}")
_IN_ARGUMENTS = ("{}", "--note={}", "note={}")
_IN_PATHS = ("data/{}/train.bin", "/srv/{}/train.bin", "~/runs/{}.pt")
_IN_NAMES = ("{}", "metric/{}", "blocks.0.{}")


def one_line(text: str) -> str:
    """A secret as it stands in an argument, a variable or a name: line ends escaped."""
    return text.replace("\n", "\\n")


Place = Callable[[Check, str, Draw], Check]


def _of_run(check: Check, **changes: object) -> Check:
    first = replace(check.runs[0], **changes)  # type: ignore[arg-type]
    return replace(check, runs=(first, *check.runs[1:]))


def _filled(forms: Sequence[str], text: str, draw: Draw) -> str:
    return draw.choice(forms).format(text)


def _argument(check: Check, text: str, draw: Draw) -> Check:
    entry = check.record.entry_point
    word = _filled(_IN_ARGUMENTS, one_line(text), draw)
    command = (*entry.command, "--name", word)
    return replace(check, record=replace(check.record, entry_point=replace(entry, command=command)))


def _variable(check: Check, text: str, draw: Draw) -> Check:
    facts = {**check.record.environment, "variable.EXPERIMENT": one_line(text)}
    return replace(check, record=replace(check.record, environment=facts))


def _path(check: Check, text: str, draw: Draw) -> Check:
    path = _filled(_IN_PATHS, one_line(text), draw)
    record = replace(check.runs[0].record, files=FileChanges(created=(path,)))
    return replace(_of_run(check, record=record), state_left=(path,))


def _log(check: Check, text: str, draw: Draw) -> Check:
    shown = _filled(_IN_LOGS, text, draw)
    return _of_run(check, stdout_tail=f"{check.runs[0].stdout_tail}{shown}\nepoch 2\n")


def _traceback(check: Check, text: str, draw: Draw) -> Check:
    return _of_run(check, stderr_tail=_filled(_IN_TRACEBACKS, text, draw))


def _source(check: Check, text: str, draw: Draw) -> Check:
    line = SourceLine(file="train.py", line=7, text=_filled(_IN_SOURCE, one_line(text), draw))
    return replace(check, causes=(replace(check.causes[0], source=line), *check.causes[1:]))


def _notebook(check: Check, text: str, draw: Draw) -> Check:
    shown = _filled(_IN_NOTEBOOKS, text, draw)
    return _of_run(check, stdout_tail=f"{check.runs[0].stdout_tail}{shown}\n")


def _series(check: Check, text: str, draw: Draw) -> Check:
    name = _filled(_IN_NAMES, one_line(text), draw)
    row = replace(check.verdict.series[0], name=name, reported=name)
    runs = tuple(_with_series(run, name) for run in check.runs)
    return replace(check, runs=runs, verdict=replace(check.verdict, series=(row,)))


def _with_series(run: Run, name: str) -> Run:
    trace = run.traces[0]
    series = replace(trace.series[0], name=name)
    return replace(run, traces=(replace(trace, series=(series,)),))


def _module(check: Check, text: str, draw: Draw) -> Check:
    assert check.ladder is not None
    name = _filled(_IN_NAMES, one_line(text), draw)
    detail = f"The inputs of `{name}` (Linear) agree, its output differs."
    rungs = tuple(
        replace(rung, place=name, detail=detail) if rung.rung == "forward" else rung
        for rung in check.ladder.rungs
    )
    said = f"In iteration 1 `{name}` (Linear) returns another output for the same inputs."
    return replace(check, ladder=replace(check.ladder, rungs=rungs, sentence=said))


def _script(check: Check, text: str, draw: Draw) -> Check:
    name, further = one_line(text), check.record.entry_point.command[2:]
    entry = EntryPoint(command=("python", f"{name}.py", *further), kind="script", name=name)
    return replace(check, record=replace(check.record, entry_point=entry))


def _remote(check: Check, text: str, draw: Draw) -> Check:
    remote = f"https://git.example.org/{one_line(text)}/repo.git"
    facts = {**check.record.environment, "git.remote": remote}
    coverage = (f"The repository {remote} was read.",)
    return replace(check, record=replace(check.record, environment=facts), coverage=coverage)


def _setting(check: Check, text: str, draw: Draw) -> Check:
    name, form = draw.choice([("output", "runs/{}"), ("python", "{}"), ("fail_on", "series:{}")])
    setting = Setting(name=name, value=form.format(one_line(text)), origin=f"--{name}")
    return replace(check, record=replace(check.record, settings=(setting,)))


PLACES: Mapping[str, Place] = {
    "argument": _argument,
    "environment variable": _variable,
    "path": _path,
    "log": _log,
    "traceback": _traceback,
    "source line": _source,
    "notebook output": _notebook,
    "series name": _series,
    "module name": _module,
    "script name": _script,
    "git remote": _remote,
    "setting": _setting,
}
"""Place -> what plants a text there."""


# ------------------------------------------------------------------------------------ a plain check


def plain() -> Check:
    """A check that fails, with a ladder, a cause, a log and a series."""
    from array import array

    def run(number: int, offset: float) -> Run:
        values = array("d", [2.0 - step / 10 + offset for step in range(10)])
        losses = LossSeries(
            values=values,
            dtype_of=array("B", bytes(10)),
            dtypes=("float32",),
            ends=array("q", range(1, 11)),
        )
        process = Process(pid=1, ppid=0, argv=("train.py",), python="3.11.7", name="MainProcess")
        series = Series(
            name="val_loss",
            by="tensorboard",
            numbers=losses,
            iterations=array("q", range(1, 11)),
            steps=array("d", range(1, 11)),
        )
        trace = Trace(
            rank=0,
            process=process,
            losses=losses,
            series=(series,),
            forward=Checked(kind="forward", iteration=1, start=0, end=1),
            backward=Checked(kind="backward", iteration=2, start=1, end=2),
            frameworks={"torch": "2.13.0"},
            environment={"torch.version": "2.13.0", "torch.threads": 2},
        )
        record = RunRecord(
            number=number,
            ended="completed",
            exit_status=0,
            started="2026-05-04T10:11:12+00:00",
            seconds=2.5,
            trace=f"run-{number}/trace",
            stdout=f"run-{number}/stdout.log",
            stderr=f"run-{number}/stderr.log",
        )
        return Run(
            record=record, traces=(trace,), processes=(process,), stdout_tail="epoch 1 loss 2.0\n"
        )

    record = CheckRecord(
        reprocheck_version="0.1.0",
        entry_point=EntryPoint(
            command=("python", "train.py", "--lr", "0.1"), kind="script", name="train"
        ),
        started="2026-05-04T10:11:12+00:00",
        tolerance=Tolerance(),
        settings=(Setting(name="runs", value=2, origin="default"),),
        runs=(),
        environment={"platform.system": "Linux", "cpu.count": 8, "python.version": "3.11.7"},
    )
    rows = (
        Comparison(
            iteration=1,
            kind="forward",
            run=2,
            rank=0,
            loss_index=0,
            passed=False,
            max_difference=0.5,
            allowed=0.003,
            ulp=12345,
        ),
    )
    verdict = Verdict(
        verdict="not_reproducible",
        failed_check="forward",
        reason="The loss of iteration 1 differs by 0.5 between run 1 and run 2.",
        exit_code=1,
        comparisons=rows,
        bitwise=Bitwise(equal=False, first_iteration=1, ulp=12345),
        first_divergence=Divergence(iteration=1, run=2, rank=0, reference=2.0, value=2.5),
        outcomes=Outcomes(
            groups=(OutcomeGroup(runs=(1,)), OutcomeGroup(runs=(2,))), bound=None, statement=""
        ),
        series=(
            SeriesComparison(
                name="val_loss", reported="val_loss", by="tensorboard", state="equal", values=10
            ),
        ),
    )
    ladder = Ladder(
        rungs=tuple(
            Rung(rung=name, status="differs" if name == "forward" else "equal") for name in RUNGS
        ),
        first="forward",
        sentence="In iteration 1 `fc` (Linear) returns another output for the same inputs.",
    )
    cause = Cause(
        code="RC604",
        title="An input differs, and what produced it was not recorded",
        confidence="observed",
        evidence=("The loss differs.",),
        fix="Print the input in two runs.",
    )
    return Check(
        record=record,
        runs=(run(1, 0.0), run(2, 0.5)),
        verdict=verdict,
        ladder=ladder,
        causes=(cause,),
    )


# ------------------------------------------------------------------------------------ many of them


@dataclass(frozen=True, slots=True)
class Sown:
    """A check, whose it is, and what is planted in it, by place."""

    check: Check
    whose: Sender
    secrets: Mapping[str, Planted]


def sown(number: int, seed: int) -> Iterator[Sown]:
    """Checks that hold so many secrets in all: one in each place, the kinds in turn."""
    draw = random.Random(seed)
    kinds = [list(KINDS)[index % len(KINDS)] for index in range(number)]
    draw.shuffle(kinds)
    places = list(PLACES)
    for start in range(0, number, len(places)):
        check, whose = plain(), sender(draw)
        secrets: dict[str, Planted] = {}
        for place, kind in zip(places, kinds[start : start + len(places)], strict=False):
            secrets[place] = planted(kind, draw, whose)
            check = PLACES[place](check, secrets[place].text, draw)
        yield Sown(check, whose, secrets)
