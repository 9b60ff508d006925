"""Checks on the nodes of a Ray cluster: one task a check, both of its runs in that task.

The nodes need this package, the interpreter and the code of the targets under the same paths, as a
shared file system gives them. The report comes back as the bytes of a zip, so the folder of the
suite may be the driver's alone.

A task that dies with its node is not tried again by Ray: it is named, and the night starts it anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import tempfile
import time
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reprocheck.errors import ReprocheckError, UsageError
from reprocheck.suite.execution import claims
from reprocheck.suite.execution.job import Job, Performed
from reprocheck.suite.execution.perform import packed, perform, unpacked
from reprocheck.suite.model import Resources

if TYPE_CHECKING:
    from collections.abc import Mapping

NPU = "NPU"
"""The name that Ray has for Ascend devices."""
ON_NODE = "on a node: "
AGAIN = 0.2
"""Seconds after which a node asks again for a working directory."""
SECONDS_TO_ANSWER = 10.0
"""For the address of a cluster: Ray itself tries for minutes, and prints a line a try."""
_SETTINGS = b"\0\0\0\x04\0\0\0\0\0"
_HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _SETTINGS
"""How gRPC, which Ray speaks, begins (RFC 9113): a preface, and settings from both sides."""
SECONDS_TO_END = 10.0
"""For tasks that were asked to end, before their workers are killed."""


@dataclass(frozen=True, slots=True)
class _Running:
    """Hold a task under way."""

    job: Job
    claim: claims.Claim
    started: float


class RayExecutor:
    """Run checks on a Ray cluster; a context manager at whose end no task is under way.

    address  the address of the cluster, as `ray.init` takes it: `auto`, or `HOST:PORT`

    Raises UsageError if Ray is not installed, or the cluster cannot be reached.
    """

    name = "ray"

    def __init__(self, address: str) -> None:
        if find_spec("ray") is None:
            raise UsageError("Ray is not installed.", 'pip install "reprocheck[ray]"')
        import ray

        self._ray: Any = ray
        self._address = address
        self._closing = ExitStack()
        self._running: dict[Any, _Running] = {}

    @property
    def busy(self) -> bool:
        """Return whether any task is under way."""
        return bool(self._running)

    def impossible(self, resources: Resources) -> str:
        """Return why no node of the cluster can ever run such a check; "" if one can."""
        if resources.nodes > 1:
            return f"It asks for {resources.nodes} nodes, and a task of Ray has one."
        wanted = _wanted(resources)
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        if any(_fits(wanted, node) for node in nodes):
            return ""
        asked = ", ".join(f"{number:g} {name}" for name, number in wanted.items() if number)
        return f"It asks for {asked}, and no node of the cluster has that."

    def start(self, job: Job) -> str:
        """Submit a job to the cluster, and return "".

        If there is no room, returns what the job has to wait for.
        """
        if not self._has_room(job):
            return "a free node"
        claim = claims.claimed(claims.of_folder(job))
        if claim is None:
            return "another check in its working directory"
        resources = job.target.needs
        task = self._ray.remote(_check).options(
            num_cpus=resources.cpus,
            num_gpus=resources.gpus,
            resources={NPU: resources.npus} if resources.npus else None,
            max_retries=0,
            name=f"{job.target.name}, attempt {job.attempt}",
        )
        self._running[task.remote(job)] = _Running(job, claim, time.time())
        return ""

    def wait(self, seconds: float) -> list[Performed]:
        """Wait at most this many seconds, and return the jobs that have ended."""
        if not self._running:
            time.sleep(seconds)
            return []
        ready, _ = self._ray.wait(
            list(self._running), num_returns=len(self._running), timeout=seconds
        )
        return [self._ended(task) for task in ready]

    def _ended(self, task: Any) -> Performed:
        """Return the result of a task, and put its report in place."""
        running = self._running[task]
        try:
            data = self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            performed = _without_report(running, error=_cause(error))
        except self._ray.exceptions.RayError as error:
            performed = _without_report(running, lost=_first_sentence(error))
        else:
            performed = unpacked(data, running.job)
        running.claim.give_back()
        del self._running[task]
        return performed

    def _has_room(self, job: Job) -> bool:
        """Return whether what the tasks under way leave of the cluster is enough for one more.

        Ray would keep any number of tasks waiting, and each would be said to be under way.
        """
        wanted = _wanted(job.target.needs)
        left = dict(self._ray.cluster_resources())
        for running in self._running.values():
            for name, number in _wanted(running.job.target.needs).items():
                left[name] = left.get(name, 0.0) - number
        return _fits(wanted, left)

    def __enter__(self) -> RayExecutor:
        before = signal.getsignal(signal.SIGTERM)
        try:
            _refuse_silent(self._address)
            self._ray.init(
                address=self._address,
                log_to_driver=False,
                logging_level="ERROR",
                configure_logging=False,
                namespace="reprocheck",
            )
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            raise UsageError(
                f"The Ray cluster at {self._address} cannot be reached: {_first_sentence(error)}",
                "Start it (`ray start --head`), and name it with --address HOST:PORT.",
            ) from None
        finally:
            signal.signal(signal.SIGTERM, before)  # Ray puts its own in its place
        # Ray prints what it learns of dead nodes on stdout, which is for reports.
        nowhere = self._closing.enter_context(Path(os.devnull).open("w"))
        self._closing.enter_context(redirect_stdout(nowhere))
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            self._end_tasks()
        finally:
            for running in self._running.values():
                running.claim.give_back()
            self._ray.shutdown()
            self._closing.close()

    def _end_tasks(self) -> None:
        """Interrupt each task, which ends its check; then end its worker."""
        tasks = list(self._running)
        if not tasks:
            return
        for force in (False, True):
            for task in tasks:
                with suppress(self._ray.exceptions.RayError):
                    self._ray.cancel(task, force=force)
            _, tasks = self._ray.wait(tasks, num_returns=len(tasks), timeout=SECONDS_TO_END)
            if not tasks:
                return


def _refuse_silent(address: str) -> None:
    """Raise OSError if nothing answers at `HOST:PORT`, ConnectionError if it is no gRPC server."""
    if address == "auto":
        address = os.environ.get("RAY_ADDRESS", "")
    parts = urlsplit(address if "//" in address else f"//{address}")
    if not parts.hostname or not parts.port:
        return
    place = (parts.hostname, parts.port)
    with socket.create_connection(place, timeout=SECONDS_TO_ANSWER) as connection:
        if os.environ.get("RAY_USE_TLS", "0") in ("0", ""):
            connection.sendall(_HTTP2)
            if connection.recv(9)[3:4] != _SETTINGS[3:4]:
                raise ConnectionError("What listens there is no Ray.")


def _check(job: Job) -> bytes:
    """Perform the job in a temporary folder of a node, and return its report as a zip."""
    # the same each time: what a task leaves that is killed goes when the night goes on
    name = hashlib.sha256(os.fsencode(job.folder)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"reprocheck-task-{os.getuid()}-{name}"
    here = replace(job, root=folder)
    claim = _claimed(here)
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        perform(here, claim)
        return packed(here)
    finally:
        claim.give_back()
        shutil.rmtree(folder, ignore_errors=True)


def _claimed(job: Job) -> claims.Claim:
    """Wait for the lock on the working directory, and return its claim.

    A node takes its own claim, because the driver's claim ends with the driver.
    """
    while (claim := claims.claimed(claims.of_folder(job, ON_NODE))) is None:
        time.sleep(AGAIN)
    return claim


def _wanted(resources: Resources) -> Mapping[str, float]:
    """Return resources by Ray's names for them."""
    return {"CPU": resources.cpus, "GPU": resources.gpus, NPU: resources.npus}


def _fits(wanted: Mapping[str, float], left: Mapping[str, float]) -> bool:
    return all(number <= left.get(name, 0.0) for name, number in wanted.items())


def _without_report(running: _Running, *, error: str = "", lost: str = "") -> Performed:
    return Performed(
        job=running.job,
        started=running.started,
        seconds=time.time() - running.started,
        error=error,
        lost=lost,
    )


def _cause(error: Any) -> str:
    """Return the error of a task that Ray's error wraps."""
    cause = error.cause
    if isinstance(cause, ReprocheckError):
        return cause.message
    return f"{type(cause).__name__}: {cause}"


def _first_sentence(error: Exception) -> str:
    """Return the first sentence of a Ray error, because Ray's messages are long."""
    return f"{str(error).strip().partition('. ')[0].splitlines()[0].rstrip('.')}."
