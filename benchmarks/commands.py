"""Secrets in what commands are given, and what of them stands in the files that these write.

A training without a framework is started by each command as a user starts it: secrets stand in its
arguments and variables, in what it prints and fails with, in its source, in the names of its files
and series, and in the options and variables of the targets of a suite. `Written` are the files of a
command, and the level of redaction at which they are written.
"""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Literal

from benchmarks.planted import KINDS, Draw, Planted, Sender, planted, sender

Level = Literal["folder", "paste", "attachment", "strict"]
LEVELS: tuple[Level, ...] = ("folder", "paste", "attachment", "strict")
OF_MACHINE = ("name of the host", "name of the user")
"""Kinds that only the machine itself can have."""
LONGEST_NAME = 200

_LOGS = (
    "connecting with {}",
    "INFO:root:token={} epoch=1",
    "[rank0] using {} for upload",
    "{}",
    'config: {{"endpoint": "{}", "retries": 3}}',
)
_LITERALS = ("connect({!r})", "login(key={!r})", "settings['remote'] = {!r}", "note = {!r}")
_TRAINING = '''"""A training without a framework, of which each start is another."""

import json
import os
import pickle
import random
import sys
from pathlib import Path

import reprocheck

settings = {{}}
connect = login = lambda *words, **more: None
{source}
NAMES = json.loads(Path(".given.json").read_text())
start, weight = 0, 1.0
if os.path.exists("state.pkl"):
    start, weight = pickle.loads(Path("state.pkl").read_bytes())
print(NAMES["log"], flush=True)
if "--fail" in sys.argv:
    random.seed(0)
for step in range(start, 8):
    weight -= random.random() / 100
    reprocheck.log(**{{name: weight for name in NAMES["series"]}})
    reprocheck.log_loss(weight)
    if step == 2:
        Path("state.pkl").write_bytes(pickle.dumps((step + 1, weight)))
for name in NAMES["file"]:
    Path("out").mkdir(exist_ok=True)
    Path("out", name).write_text("1")
if "--fail" in sys.argv:
    raise RuntimeError(NAMES["error"])
'''


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """The files that a command writes, and the level of redaction at which it does."""

    command: str
    level: Level
    files: Mapping[str, bytes]


Secrets = Mapping[str, Sequence[Planted]]
PLACES = ("argument", "variable", "log", "error", "source", "file", "series", "option", "target")
"""Where a command is given a secret; `option` and `target`: an argument and a variable of a target
of a suite.
"""


def sown(draw: Draw, kinds: Iterable[str] = KINDS) -> Secrets:
    """One secret of each kind for each place."""
    whose = sender(draw)
    known = [kind for kind in kinds if kind not in OF_MACHINE]
    return {place: list(_of(place, known, draw, whose)) for place in PLACES}


def _of(place: str, kinds: Sequence[str], draw: Draw, whose: Sender) -> Iterator[Planted]:
    for kind in kinds:
        one = planted(kind, draw, whose)
        is_no_name = "/" in one.text or "\\" in one.text or len(one.text) > LONGEST_NAME
        if place == "file" and is_no_name:
            continue
        if kind != "home folder":
            yield one


def of_machine(place: Path) -> Secrets:
    """What says whose the machine is on which commands are started in a folder: its home folder.
    Its user and host are those of the machine itself, and can be everyday words.
    """
    home = str(place)
    return {"machine": [Planted("home folder", home, (home,))]}


def written(
    place: Path, secrets: Secrets, seed: int = 0, only: Sequence[str] | None = None
) -> Iterator[Written]:
    """Start each command in an empty folder, and read what it writes; `only`: those of the named
    groups.
    """
    machine = _Machine(place, secrets, random.Random(seed))
    for group, commands in machine.groups().items():
        if only is None or group in only:
            yield from commands()


class _Machine:
    """A user's home folder with a project in it."""

    def __init__(self, place: Path, secrets: Secrets, draw: Draw) -> None:
        self.secrets, self.draw = secrets, draw
        self.project = place / "project"
        self.project.mkdir(parents=True)
        given = {
            "log": "\n".join(self._filled("log")),
            "error": " ".join(one.text for one in secrets["error"]),
            "file": [_one_line(one) for one in secrets["file"]],
            "series": [f"metric/{_one_line(one)}" for one in secrets["series"]],
        }
        (self.project / ".given.json").write_text(json.dumps(given))
        source = "\n".join(
            (f"# {_one_line(one)}" if index % 5 == 0 else form.format(one.text))
            for index, one in enumerate(secrets["source"])
            for form in [draw.choice(_LITERALS)]
        )
        (self.project / "train.py").write_text(_TRAINING.format(source=source))
        variables = {f"TRAIN_{n}": one.text for n, one in enumerate(secrets["variable"])}
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = {**kept, **variables, "HOME": str(place), "NO_COLOR": "1"}
        self.training = ["train.py", *self._arguments("argument")]

    def _filled(self, place: str) -> Iterator[str]:
        for one in self.secrets[place]:
            yield self.draw.choice(_LOGS).format(one.text)

    def _arguments(self, place: str) -> list[str]:
        """Options of each form, with a value."""
        forms = ("--key-{n}={}", "--key-{n} {}", "-p{}", "key_{n}={}", "+key.{n}={}", "-k {}")
        words: list[str] = []
        for n, one in enumerate(self.secrets[place]):
            option, _, rest = forms[n % len(forms)].format("\0", n=n).partition(" ")
            found = [option, rest] if rest else [option]
            words += [word.replace("\0", one.text) for word in found]
        return words

    def run(self, *words: str | Path) -> bytes:
        """Start a command; what it prints on its standard output."""
        done = subprocess.run(
            [sys.executable, "-m", "reprocheck", *map(str, words)],
            cwd=self.project,
            env=self.environment,
            capture_output=True,
            timeout=900,
        )
        if done.returncode not in (0, 1, 3, 4):
            raise RuntimeError(f"{words[:3]}: {done.stderr.decode()}")
        return done.stdout

    # ------------------------------------------------------------------------------- the commands

    def groups(self) -> Mapping[str, Callable[[], Iterator[Written]]]:
        """Groups of commands, in the order in which they can be started."""
        return {
            "run": lambda: self._check("run", "--no-explain", *self.training),
            "report": self._reports,
            "failure": lambda: self._check("run", *self.training, "--fail", title="run that fails"),
            "explain": lambda: self._check("explain", *self.training),
            "bundle": lambda: self._bundles("bundle"),
            "recordings": self._recordings,
            "resume": lambda: self._check("resume", *self.training),
            "bundle of a resume": lambda: self._bundles("bundle of a resume"),
            "scan": self._scans,
            "suite": self._suite,
            "suite views": self._suite_views,
        }

    def _check(self, command: str, *words: str, title: str = "") -> Iterator[Written]:
        self.run(command, *words)
        files = _below(self.project / "reports" / "latest")
        yield Written(command=title or command, level="folder", files=files)
        copied = _copied(files.get("report.html", b""))
        if copied:
            yield Written(
                command=f"{title or command}: Copy for an issue",
                level="paste",
                files={"text": copied},
            )

    def _reports(self) -> Iterator[Written]:
        forms = ("html", "md", "json", "junit", "csv")
        latest = "reports/latest"
        files = {form: self.run("report", latest, "--format", form, "-o", "-") for form in forms}
        self.run("report", latest, "-o", "recording.zip")
        files |= _below(self.project / "recording.zip")
        yield Written(command="report", level="folder", files=files)

    def _bundles(self, title: str) -> Iterator[Written]:
        latest = "reports/latest"
        of_level: dict[Level, tuple[str, ...]] = {
            "attachment": ("--with-log", "--with-source"),
            "strict": ("--redact", "strict"),
        }
        for level, words in of_level.items():
            self.run("bundle", latest, "-o", "issue.zip", *words)
            files = _below(self.project / "issue.zip")
            files |= {"--preview": self.run("bundle", latest, "--preview", *words)}
            yield Written(command=title, level=level, files=files)

    def _scans(self) -> Iterator[Written]:
        forms = ("text", "json", "sarif", "github")
        files = {form: self.run("scan", "--format", form, "train.py") for form in forms}
        yield Written(command="scan", level="folder", files=files)

    def _recordings(self) -> Iterator[Written]:
        training = self.training
        ranks = ("0", "1")
        for rank in ranks:
            self.environment |= {"RANK": rank, "WORLD_SIZE": "2"}
            self.run("record", "-o", f"{rank}.zip", *training)
        for name in ("RANK", "WORLD_SIZE"):
            del self.environment[name]
        files = _below(self.project / "0.zip")
        yield Written(command="record", level="folder", files=files)
        self.run("merge", "0.zip", "1.zip", "-o", "merged.zip")
        files = _below(self.project / "merged.zip")
        yield Written(command="merge", level="folder", files=files)
        self.run("record", "-o", "2.zip", *training)
        self.run("record", "-o", "3.zip", *training)
        yield from self._check("compare", "2.zip", "3.zip")

    def _suite(self) -> Iterator[Written]:
        self._settings()
        with _webhook() as (address, received):
            self.environment |= {"WEBHOOK": address}
            self.run("suite", "run", "-q")
        nightly = self.project / "nightly"
        yield Written(command="suite run", level="folder", files=_below(nightly))
        notice = {"notice": b"\n".join(received)}
        yield Written(command="suite run: notices", level="paste", files=notice)
        issues = {one: self.run("suite", "show", one, "--issue") for one in ("train", "fails")}
        yield Written(command="suite show --issue", level="paste", files=issues)

    def _suite_views(self) -> Iterator[Written]:
        shown = {
            "suite show": ("suite", "show", "--all"),
            "suite show TARGET": ("suite", "show", "train"),
            "suite list": ("suite", "list"),
            "suite list --format json": ("suite", "list", "--format", "json"),
            "suite history": ("suite", "history", "--format", "json"),
            "suite report --format json": ("suite", "report", "--format", "json", "-o", "-"),
            "suite report --format github": ("suite", "report", "--format", "github", "-o", "-"),
        }
        files = {name: self.run(*words) for name, words in shown.items()}
        self.run("suite", "history", "--export", "history.csv", "--series")
        self.run("suite", "baseline", "accept", "repeats", "--force", "--why", "it is right")
        self.run("suite", "baseline", "export", "baselines.json")
        for name in ("history.csv", "baselines.json"):
            files[name] = (self.project / name).read_bytes()
        yield Written(
            command="suite show, list, history, report, baseline", level="folder", files=files
        )

    def _settings(self) -> None:
        """A suite of a training that is checked, one that fails, one that repeats, and a resume."""
        arguments = self._arguments("option")
        variables = {f"T_{n}": one.text for n, one in enumerate(self.secrets["target"])}
        (self.project / "repeats.py").write_text("import reprocheck\nreprocheck.log_loss(1.0)\n")
        with_options = {"environment": variables, "explain": False, "draw": False}
        targets: list[dict[str, object]] = [
            {"name": "train", "run": ["train.py", *arguments], **with_options},
            {"name": "fails", "run": ["train.py", "--fail", *arguments], **with_options},
            {"name": "repeats", "run": ["repeats.py", *arguments], **with_options},
        ]
        tables = "\n".join(f"[[target]]\n{_toml(target)}" for target in targets)
        text = f'[suite]\nwebhooks = "$WEBHOOK"\n{tables}'
        (self.project / "reprocheck.toml").write_text(text)


def _toml(target: Mapping[str, object]) -> str:
    return "".join(f"{name} = {_value(value)}\n" for name, value in target.items())


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {_value(one)}' for name, one in value.items())} }}"
    return json.dumps(value)


def _one_line(one: Planted) -> str:
    return one.text.replace("\n", "\\n")


def _copied(page: bytes) -> bytes:
    """The text that the button of a page copies."""
    _, _, rest = page.decode().partition('<section class="issue copyable"')
    text = rest.partition('<pre tabindex="0"><code>')[2].partition("</code></pre>")[0]
    return unescape(text).encode()


def _below(place: Path) -> dict[str, bytes]:
    """All files of a folder or a zip, those of zips in it too."""
    if place.is_file():
        return dict(_unpacked(place.name, place.read_bytes()))
    files = (file for file in sorted(place.resolve().rglob("*")) if file.is_file())
    found: dict[str, bytes] = {}
    for file in files:
        found |= _unpacked(str(file.relative_to(place.resolve())), file.read_bytes())
    return found


def _unpacked(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    yield f"{name}: its name", name.encode()
    if not zipfile.is_zipfile(io.BytesIO(data)):
        yield name, data
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.namelist():
            yield from _unpacked(f"{name}/{entry}", archive.read(entry))


@contextmanager
def _webhook() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a server on this machine, and what is sent to it."""
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", received
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
