"""Records which calls seed which generators, and gives some of them another seed.

Both are for `--must-differ seed`. A call that seeds through others (`seed_everything` calls
`torch.manual_seed`) is one call; calls are numbered in their order, and the launcher says which of
them get another seed. What a parser reads under a name such as `--seed` may be changed, too.
"""

from __future__ import annotations

import sys
from _thread import _local
from functools import partial

from ..deep_levels.generator_states import NumpyState, PythonState
from ..recorder import import_hook
from ..recorder.hooking import around, guarded, replace, set_in_type
from ..shared.seed_names import is_seed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable

    from .active_controls import Active

    State = Callable[[], object]

FUNCTIONS = (
    ("torch.random", "manual_seed", ""),
    ("torch.cuda.random", "manual_seed", "cuda"),
    ("torch.cuda.random", "manual_seed_all", "cuda"),
    ("torch_npu.npu.random", "manual_seed", "npu"),
    ("torch_npu.npu.random", "manual_seed_all", "npu"),
    ("tensorflow.python.framework.random_seed", "set_seed", "tensorflow"),
    ("keras.src.utils.rng_utils", "set_random_seed", ""),
    ("keras.src.random.seed_generator", "SeedGenerator.__init__", "keras"),
    ("keras.src.initializers.random_initializers", "RandomInitializer.__init__", "keras"),
    ("jax.random", "key", "jax"),
    ("jax.random", "PRNGKey", "jax"),
    ("mindspore.common.seed", "set_seed", "mindspore"),
    ("mindspore.common.generator", "manual_seed", "mindspore"),
    ("mindspore.dataset.core.config", "set_seed", "mindspore"),
    ("lightning.fabric.utilities.seed", "seed_everything", ""),
    ("lightning_fabric.utilities.seed", "seed_everything", ""),
    ("transformers.trainer_utils", "set_seed", ""),
    ("accelerate.utils.random", "set_seed", ""),
)
"""Module, function and the generator whose state nothing shows; "" where functions that it calls
say which ones it seeds.
"""
HOLDERS = ("args", "config", "cfg", "hparams")
"""Attributes that hold the settings of a library's object: `trainer.args.data_seed`."""
_WORKERS = "torch.utils.data._utils.worker"
"""Its processes seed themselves from what the loader has drawn."""
_IMPORTING = "<frozen importlib"
_MOST = 500
"""Calls that are recorded."""
_FRAMES = 40
"""Frames that are looked through for the line that chose a seed."""
_LIMIT = 1 << 32


def install(active: Active) -> None:
    """Watch the functions that seed, and the parser of arguments."""
    calls = Calls(active)
    watched = guarded("watching what seeds")
    import_hook.when_imported("random", watched(calls.python))
    import_hook.when_imported("numpy.random", watched(calls.numpy))
    import_hook.when_imported("torch", watched(calls.torch))
    import_hook.when_imported("jax._src.prng", watched(calls.jax))
    import_hook.when_imported("argparse", watched(calls.argparse))
    import_hook.when_imported("click.core", watched(calls.click))
    for module, function, generator in FUNCTIONS:
        hook = partial(calls.function, function=function, generator=generator)
        import_hook.when_imported(module, watched(hook))


class Call:
    """One call that seeds, and the generators that it has seeded.

    event       what is written of it, once it is over
    generators  that it has seeded
    states      generator -> how its state is read, and the state in which the call left it
    hidden      those of them whose state cannot be read
    """

    def __init__(self, number: int, event: dict[str, Any]) -> None:
        self.number = number
        self.event = event
        self.generators: dict[str, None] = {}
        self.states: dict[str, tuple[State, object]] = {}
        self.hidden: list[str] = []
        self.drawn = False


class Calls:
    """All calls of this process that seed."""

    def __init__(self, active: Active) -> None:
        settings = active.settings["seeding"]
        self.active = active
        self.recorder = active.recorder
        self.changed = frozenset(settings.get("calls") or ())
        self.changes_parsed = bool(settings.get("parsed"))
        self.number = 0
        self.calls: list[Call] = []
        self.local = _local()
        self.defined: dict[int, str] = {}
        """Action of a parser, by its id -> the line that added it."""
        self.parsed: set[str] = set()
        self.jax_draws = -1
        self.recorder.on_event.append(self.look)
        self.recorder.on_end.append(partial(self.look, is_end=True))

    # ---- what is hooked

    def function(self, module: Any, function: str, generator: str) -> None:
        owner, _, name = function.rpartition(".")
        place = getattr(module, owner) if owner else module
        skipped = 1 if owner else 0  # `self`
        what = "%s.%s" % (module.__name__.partition(".")[0], owner or name)
        replace(place, name, partial(self._hook, what=what, skipped=skipped, hidden=generator))

    def python(self, module: Any) -> None:
        hidden = module._inst  # the generator behind the functions of `random`

        def state(args: Any, _: Any) -> tuple[str, State]:
            if args[0] is hidden:
                return "python", PythonState()
            return self._private(args[0]), args[0].getstate

        hook = partial(self._hook, what="random.seed", skipped=1, state=state)
        replace(module.Random, "seed", hook)
        # the recorder of the deeper levels takes what has it for a function that it watches
        del module.Random.seed.__wrapped__
        module.seed = hidden.seed

    def numpy(self, module: Any) -> None:
        hidden = module.mtrand._rand

        def legacy(args: Any, _: Any) -> tuple[str, State]:
            if args[0] is hidden._bit_generator:
                return "numpy", NumpyState()
            return self._private(args[0]), lambda: repr(args[0].state)

        def own(_: Any, made: Any) -> tuple[str, State]:
            return self._private(made), lambda: repr(made.bit_generator.state)

        # both `numpy.random.seed` and `RandomState(seed)` call it
        real = module.MT19937._legacy_seeding
        what = "numpy.random.seed"
        hook = self._hook(real, what=what, skipped=1, state=legacy)
        set_in_type(module.MT19937, "_legacy_seeding", hook)
        replace(
            module, "default_rng", partial(self._hook, what="numpy.random.default_rng", state=own)
        )

    def torch(self, module: Any) -> None:
        def state(args: Any, _: Any) -> tuple[str, State]:
            generator = args[0]
            name = "torch" if generator is module.default_generator else self._private(generator)
            return name, lambda: bytes(generator.get_state().numpy())

        what = "torch.Generator.manual_seed"
        hook = self._hook(module.Generator.manual_seed, what=what, skipped=1, state=state)
        set_in_type(module.Generator, "manual_seed", hook)

    def jax(self, module: Any) -> None:
        """Count the draws of JAX, whose keys have no state; all its random functions come here."""

        def counting(*_: Any, **__: Any) -> None:
            self.jax_draws += 1

        self.jax_draws = 0
        around(module, "random_bits", "a draw of JAX", before=counting)

    def argparse(self, module: Any) -> None:
        def added(action: Any, /, *_: Any, **__: Any) -> None:
            if is_seed(str(action.dest)):
                self.defined[id(action)] = self.active.line(2)

        def parse(real: Any) -> Any:
            def parse_known_args(parser: Any, *args: Any, **named: Any) -> Any:
                outermost = not getattr(self.local, "parsing", False)
                self.local.parsing = True
                try:
                    found = real(parser, *args, **named)
                finally:
                    self.local.parsing = not outermost
                if outermost:
                    lines = {one.dest: self.defined.get(id(one), "") for one in parser._actions}
                    self._parsed(vars(found[0]), lines)
                return found

            return parse_known_args

        around(module._ActionsContainer, "add_argument", "an argument", after=added)
        replace(module.ArgumentParser, "parse_known_args", parse)

    def click(self, module: Any) -> None:
        def parsed(_: Any, command: Any, context: Any, /, *__: Any) -> None:
            callback = getattr(command, "callback", None)
            code = getattr(getattr(callback, "__wrapped__", callback), "__code__", None)
            line = ""
            if code is not None:
                line = self.active.line_of_code(code)
            self._parsed(context.params, dict.fromkeys(context.params, line))

        around(module.Command, "parse_args", "arguments", after=parsed)

    # ---- what is recorded and changed

    @guarded("a parsed seed")
    def _parsed(self, values: dict[str, Any], lines: dict[str, str]) -> None:
        """Record what a parser read under names of a seed, and change it if that is asked for."""
        for name, value in values.items():
            if type(value) is not int or not is_seed(name) or name in self.parsed:
                continue
            self.parsed.add(name)
            if self.changes_parsed:
                values[name] = other(value)
            line = lines.get(name) or self.active.line(2)
            self.recorder.emit(
                {"e": "seeding", "n": 0, "w": name, "v": str(values[name]), "l": line}
            )

    def _hook(
        self,
        real: Any,
        what: str,
        skipped: int = 0,
        hidden: str = "",
        state: Callable[[Any, Any], tuple[str, State]] | None = None,
    ) -> Any:
        """Return the function in place of one that seeds.

        skipped  arguments in front of the seed
        hidden   the generator that it seeds, where nothing shows its state
        state    called with the arguments and what was returned: the generator and its state
        """
        local = self.local

        def seeding(*args: Any, **named: Any) -> Any:
            call = getattr(local, "call", None)
            outermost = call is None
            if outermost:
                call, args, named = self._begun(what, skipped, args, named)
                local.call = call
            try:
                returned = real(*args, **named)
            finally:
                if outermost:
                    local.call = None
            if call is not None:
                self._ended(call, hidden, state, args, returned)
                if outermost:
                    call.event["g"] = list(call.generators)
                    self.recorder.emit(call.event)
            return returned

        return seeding

    def _begun(
        self, what: str, skipped: int, args: tuple[Any, ...], named: dict[str, Any]
    ) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """Return the call and its arguments, with another seed if it is to get one.

        None in place of the call where nothing is recorded of it.
        """
        try:
            name = next(iter(named), "")
            given = args[skipped] if len(args) > skipped else named.get(name)
            value = shown(given)
            frame: Any = sys._getframe(2)
            if value is None or self.number >= _MOST or not self._is_for_user(frame):
                return None, args, named
            self.look()
            self.number += 1
            if self.number in self.changed:
                given = other(given)
                value = shown(given)
            if len(args) > skipped:
                args = (*args[:skipped], given, *args[skipped + 1 :])
            else:
                named = {**named, name: given}
            call = Call(self.number, self._event(what, str(value), given, frame))
            self.calls.append(call)
            return call, args, named
        except Exception as error:
            self.recorder.problem("a call that seeds", error)
            return None, args, named

    def _event(self, what: str, value: str, given: Any, frame: Any) -> dict[str, Any]:
        inner, chosen, setting = self._lines(frame, given)
        event: dict[str, Any] = {"e": "seeding", "n": self.number, "w": what, "v": value}
        event["l"] = chosen
        if inner != chosen:
            event["i"] = inner
        if setting:
            event["s"] = setting
        return event

    @guarded("the state of a generator")
    def _ended(self, call: Call, hidden: str, state: Any, args: Any, returned: Any) -> None:
        if hidden:
            call.generators[hidden] = None
        if hidden == "jax" and self.jax_draws >= 0:
            # a compiled draw is counted once alone, so any draw may be one from any key
            call.states["jax"] = (lambda: self.jax_draws > 0, False)
        elif hidden:
            call.hidden.append(hidden)
        if state is not None:
            name, read = state(args, returned)
            for earlier in self.calls:
                if earlier is not call:
                    earlier.states.pop(name, None)  # from here on it is this call's
            call.states[name] = (read, read())
            call.generators[name] = None

    @staticmethod
    def _private(generator: object) -> str:
        return "%s %d" % (type(generator).__name__, id(generator))

    def look(self, is_end: bool = False) -> None:
        """Record which calls something was drawn behind, and in which iteration that was first.

        A draw behind the last loss belongs to the next iteration.
        """
        for call in self.calls:
            if call.drawn or not call.states:
                continue
            with guarded("the state of a generator"):
                call.drawn = any(read() != left for read, left in call.states.values())
                if call.drawn:
                    iteration = self.recorder.iteration + is_end
                    self.recorder.emit({"e": "drawn", "n": call.number, "i": iteration})
        if not is_end:
            return
        for call in self.calls:
            if not call.drawn and any(map(_is_in_use, call.hidden)):
                self.recorder.emit({"e": "drawn", "n": call.number, "u": True})

    # ---- lines

    def _is_for_user(self, frame: Any) -> bool:
        """Return whether the user's code is above, in no worker of a loader and at no import."""
        worker = getattr(sys.modules.get(_WORKERS), "_worker_info", None)
        if worker is not None or frame.f_globals.get("__name__") == _WORKERS:
            return False
        while frame is not None and not self.active.line_at(frame):
            if frame.f_code.co_filename.startswith(_IMPORTING):
                return False
            frame = frame.f_back
        return frame is not None

    def _lines(self, frame: FrameType | None, given: Any) -> tuple[str, str, str]:
        """Return the user's innermost line, the line that chose the seed, and a library's setting.

        A function of the user's that was handed the seed did not choose it: its caller did.
        """
        active, value = self.active, shown(given)
        library: list[FrameType] = []
        inner = chosen = ""
        for _ in range(_FRAMES):
            if frame is None:
                break
            line = active.line_at(frame)
            if line:
                inner = inner or line
                chosen = line
                if not _is_handed(frame, value):
                    break
            elif inner:
                break
            else:
                library.append(frame)
            frame = frame.f_back
        return inner, chosen, _setting(library, value)


def _is_in_use(generator: str) -> bool:
    """Return whether draws from a generator that shows no state are possible: not of no device."""
    device = getattr(sys.modules.get("torch"), generator, None)
    return device is None or bool(device.is_initialized())


def shown(given: Any) -> Any:
    """Return the seed in plain types; None where it is none, or one that nobody can change."""
    if type(given) is bool or given is None:
        return None
    if type(given) in (int, str):
        return given
    if type(given) in (list, tuple) and given and type(given[0]) is int:
        return repr(given)
    if type(given).__module__ == "numpy" and getattr(given, "ndim", None) == 0:
        return int(given)
    if type(given).__name__ == "SeedSequence" and type(given.entropy) is int:
        return given.entropy
    return None


def other(given: Any) -> Any:
    """Return another seed of the same type."""
    if type(given) is str:
        return given + "1"
    if type(given) in (list, tuple):
        return type(given)((other(given[0]), *given[1:]))
    if type(given).__name__ == "SeedSequence":
        return type(given)(given.entropy + 1, spawn_key=given.spawn_key)
    return type(given)((int(given) + 1) % _LIMIT)


def _is_handed(frame: FrameType, value: Any) -> bool:
    """Return whether the function of a frame was given the seed as an argument."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = frame.f_locals
    return any(_is(values.get(name), value) for name in names)


def _is(one: Any, value: Any) -> bool:
    return type(one) is type(value) and bool(one == value)


def _setting(frames: list[FrameType], value: Any) -> str:
    """Return the setting of a library that holds the seed: `args.data_seed`; "" if none is found.

    The frames are those of the library, the innermost first.
    """
    for frame in reversed(frames):
        for owner in list(frame.f_locals.values()):
            held = getattr(owner, "__dict__", None)
            if type(held) is not dict:
                continue
            for path, values in (("", held), *_holders(held)):
                for name, one in values.items():
                    if "seed" in str(name) and _is(one, value):
                        return "%s%s" % (path, name)
    return ""


def _holders(held: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    found = ((name, getattr(held.get(name), "__dict__", None)) for name in HOLDERS)
    return [(name + ".", values) for name, values in found if type(values) is dict]
