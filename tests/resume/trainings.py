"""A training without a framework that keeps checkpoints, in the ways that scripts do."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reprocheck.cli import main

SCRIPT = """
import json, multiprocessing, os, pickle, random, shutil, sys, threading
from concurrent.futures import ThreadPoolExecutor
import reprocheck

how = set(sys.argv[1:])
random.seed(7)
state = {"w": 1.0, "v": 0.0, "step": 0}


def load(path):
    global state
    with open(path, "rb") as file:
        saved = pickle.load(file)
    if "fails" in how:
        raise KeyError("model")
    if "forgets" in how:
        saved["v"] = 0.0
    random.setstate(saved.pop("rng"))
    state = saved


def save(path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".tmp", "wb") as file:
        pickle.dump(dict(state, rng=random.getstate()), file)
    os.replace(path + ".tmp", path)


def write_late(path, held):
    threading.Event().wait(0.05)
    with open(path, "wb") as file:
        pickle.dump(held, file)


pool = ThreadPoolExecutor(1)
pool.submit(len, ())  # its worker is there from the start
named = [word for word in how if word.startswith("from=")]
if named:
    load(named[0][5:])
elif os.path.exists("ckpt.pkl") and "blind" not in how:
    load("ckpt.pkl")
def stop(*_):
    how.add("ends")


if "handles" in how:
    import signal

    signal.signal(signal.SIGTERM, stop)
while state["step"] < 10:
    loss = (state["w"] - random.random()) ** 2
    reprocheck.log_loss(loss)
    state["v"] = 0.9 * state["v"] + loss
    state["w"] -= 0.1 * state["v"]
    state["step"] += 1
    reprocheck.log(val_loss=state["w"])
    if "breaks" in how and state["step"] == 1 and os.path.exists("ckpt.pkl"):
        raise KeyError("gone")
    with open("metrics.json", "a") as log:
        log.write(json.dumps(loss))
    if state["step"] == 3 and "folder" in how:
        save("out/step-3/state.pkl")
        with open("out/step-3/trainer.json", "w") as file:
            json.dump({"step": 3}, file)
    elif state["step"] == 3 and {"thread", "pool", "process"} & how:
        given = ("ckpt.pkl", dict(state, rng=random.getstate()))
        if "thread" in how:
            threading.Thread(target=write_late, args=given).start()
        elif "pool" in how:
            pool.submit(write_late, *given)
        else:
            multiprocessing.get_context("fork").Process(target=write_late, args=given).start()
    elif state["step"] == 3 and "outside" in how:
        save(os.environ["OUTSIDE"] + "/ckpt.pkl")
    elif state["step"] == 3 and "never" not in how:
        save("ckpt.pkl")
    if "ends" in how:
        save("ckpt.pkl")
        break
    if state["step"] == 4 and "folder" in how:
        shutil.rmtree("out/step-3")
    if state["step"] == 3 and "deletes" in how:
        os.remove("ckpt.pkl")
"""


@dataclass(frozen=True)
class Answer:
    """What a command said, and report.json where there is one."""

    code: int
    out: str
    err: str
    report: dict[str, Any]

    @property
    def place(self) -> dict[str, Any]:
        """Its only place."""
        (place,) = self.report["places"]
        return dict(place)


def check(folder: Path, words: str, capture: Any, script: str = SCRIPT) -> Answer:
    """`reprocheck resume WORDS` in a folder that holds the training."""
    (folder / "train.py").write_text(script)
    code = main(["resume", *shlex.split(words)])
    said = capture.readouterr()
    report: dict[str, Any] = {}
    file = folder / "reports" / "latest" / "report.json"
    if file.exists():
        report = json.loads(file.read_text())
    return Answer(code, said.out, said.err, report)
