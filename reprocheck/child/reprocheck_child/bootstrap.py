"""Starts the recorder in a process.

It reads the settings of the run, and sets up the recorder, the hooks that wait for the import of a
framework, and the watch on opened files.
"""

from __future__ import annotations

import atexit
import os

from .files_seen import native_readers, native_writers, opened_files
from .recorder import current_recorder, events, import_hook, json_text, registry, series
from .recorder.hooking import guarded

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Mapping

STAND_IN = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "standin", "reprocheck.py"
)


def start(folder: str, modules: set[str]) -> None:
    """Record this process into the trace folder `folder`.

    Raises OSError or ValueError if the folder does not hold the settings of a run.

    modules  the modules that were loaded before the recorder
    """
    with open(os.path.join(folder, "recorder.json"), encoding="utf-8") as file:
        settings = json_text.loads(file.read())
    recorder = events.Recorder(folder, settings)
    current_recorder.RECORDER = recorder
    recorder.hello("start")
    os.register_at_fork(before=recorder.forking, after_in_child=recorder.forked)
    if settings.get("portable"):
        from .deep_levels import hashing

        hashing.take_portable()
    if settings.get("patched"):
        _start_patched(recorder, settings["patched"])
    if settings.get("controls") or settings.get("varied"):
        _start_controls(recorder, settings)
    for framework in registry.FRAMEWORKS:
        if framework.adapter:
            import_hook.when_imported(framework.name, _installer(recorder, framework))
    import_hook.provide("reprocheck", STAND_IN)
    import_hook.install(modules)
    opened_files.watch(recorder, settings)
    native_readers.install()
    native_writers.install(recorder)
    series.install(recorder.series)
    if "boundaries" in settings:
        _start_archives(recorder)
    if settings.get("resume"):
        _start_pauses(recorder, settings["resume"])
    atexit.register(recorder.ended)


@guarded("putting the patch in place")
def _start_patched(recorder: events.Recorder, files: Mapping[str, str]) -> None:
    """Let a patch under trial replace source files before the script is read."""
    from .process import patched_source

    patched_source.start(recorder, files)


@guarded("watching savers")
def _start_archives(recorder: events.Recorder) -> None:
    """Record what the training saves and loads, in a check of a resume."""
    from .resume.archives import Savers

    recorder.savers = Savers(recorder)
    recorder.savers.install()


@guarded("watching for checkpoints")
def _start_pauses(recorder: events.Recorder, request: Mapping[str, Any]) -> None:
    """Make a run that is to be resumed later wait after its checkpoint."""
    from .resume import pause

    pause.install(recorder, request)


def _start_controls(recorder: events.Recorder, settings: Mapping[str, Any]) -> None:
    """Start the controls before any later import; their own modules are loaded only here."""
    try:
        from . import controls

        active = controls.start(recorder, settings)
    except Exception as error:
        recorder.problem("starting the controls", error)
        return
    for framework in registry.FRAMEWORKS:
        if framework.controls:
            import_hook.when_imported(framework.name, _controller(active, framework))


def _controller(active: Any, framework: registry.Framework) -> import_hook.Callback:
    """Put the controls of the run in place, before the adapter of a framework."""

    @guarded("installing the controls for " + framework.name)
    def install(module: object) -> None:
        from . import controls

        controls.act(module, active, registry.found(framework.controls))

    return install


def _installer(recorder: events.Recorder, framework: registry.Framework) -> import_hook.Callback:
    name, oldest = framework.name, framework.oldest

    def install(module: object) -> None:
        version = str(getattr(module, "__version__", "?"))
        if is_older(version, oldest):
            template = (
                "%s %s is older than %s, the first that can be recorded: what"
                " `reprocheck.log_loss(value)` is given counts alone."
            )
            text = template % (name, version, ".".join(map(str, oldest)))
            recorder.emit({"e": "caveat", "code": "old-framework", "text": text})
            recorder.emit({"e": "framework", "name": name, "version": version, "hooks": {}})
            return
        try:
            hooks = registry.found(framework.adapter)(module, recorder)
        except Exception as error:
            recorder.problem("installing the hooks for " + name, error)
            hooks = {"install": repr(error)}
        recorder.emit({"e": "framework", "name": name, "version": version, "hooks": hooks})
        _make_ready(framework)

    return install


@guarded("loading what describes a framework")
def _make_ready(framework: registry.Framework) -> None:
    """Load the modules that describe the environment while the framework is imported.

    The first step of the training describes the environment, and may take less time than these
    imports.
    """
    from .process import environment

    environment.look_ahead()
    if framework.environment != registry.VERSION:
        registry.found(framework.environment)


def is_older(version: str, oldest: tuple[int, ...]) -> bool:
    """Return whether a version such as `2.13.0+cpu` comes before the oldest supported one.

    An unreadable version counts as new.
    """
    numbers: list[int] = []
    for part in version.split("+")[0].split(".")[: len(oldest)]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            return False
        numbers.append(int(digits))
    return tuple(numbers) < oldest[: len(numbers)]
