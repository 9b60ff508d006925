"""The script for PyTorch: `templates/torch.txt`, filled in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from math import isfinite
from string import Template
from textwrap import wrap

from reprocheck.model.replay import Argument, Constant, Fill, OnDevice, Replay, TensorArgument
from reprocheck.replay.values import NAME

INDENT = "    "
WIDTH = 100
_WRITES_ONLY = ("_foreach_", "_fused_", "_amp_")
"""How operators in place begin that return nothing: what they wrote to is the result."""
_MAKERS: dict[Fill, str] = {
    "floats": '''\
    def floats(self, shape, strides, dtype):
        """Numbers from 0 to 1, drawn uniformly."""
        values = torch.rand(length(shape, strides), dtype=dtype, generator=self.generator)
        return self._laid(values, shape, strides)
''',
    "integers": '''\
    def integers(self, shape, strides, dtype, low, high):
        """Integers from `low` to `high`, both included, drawn uniformly."""
        size = (length(shape, strides),)
        values = torch.randint(low, high + 1, size, dtype=dtype, generator=self.generator)
        return self._laid(values, shape, strides)
''',
    "booleans": '''\
    def booleans(self, shape, strides, dtype):
        """True or False, drawn uniformly."""
        values = torch.randint(2, (length(shape, strides),), generator=self.generator)
        return self._laid(values.to(dtype), shape, strides)
''',
    "nothing": '''\
    def unfilled(self, shape, strides, dtype):
        """Memory that nothing fills, with what the last tensor there left in it."""
        size, left = (length(shape, strides),), next(LEFT)
        torch.full(size, left, dtype=dtype, device=self.device)
        values = torch.empty(size, dtype=dtype, device=self.device)
        return self._laid(values, shape, strides)
''',
}
_CALLS: dict[Fill, str] = {
    "floats": "floats",
    "integers": "integers",
    "booleans": "booleans",
    "nothing": "unfilled",
}
_MADE = "The values of tensors are made here, from a seed."
_INPUTS = "inputs(Make(options.device))"
_FILLED = "filled(inputs(Make(options.device)))"
_TOLD = """\
    print("Values as recorded:", ", ".join(recorded()) or "none, their file is missing")
"""
_READER = '''\
VALUES = {
$TYPES}


@functools.cache
def recorded():
    """The recorded tensors by name, flat, from a file in the format safetensors; {} without it."""
    file = pathlib.Path(__file__).with_name("$NAME")
    if not file.exists():
        return {}
    data = file.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    found = {}
    for name, dtype in VALUES.items():
        begin, end = header[name]["data_offsets"]
        found[name] = torch.frombuffer(bytearray(data[start + begin : start + end]), dtype=dtype)
    return found


def filled(given, path=""):
    """What is given, with the recorded values in place of those that are made here."""
    if isinstance(given, dict):
        return {name: filled(part, name) for name, part in given.items()}
    if isinstance(given, list):
        return [filled(part, f"{path}.{number}") for number, part in enumerate(given)]
    if path not in recorded():
        return given
    values = torch.zeros(length(given.shape, given.stride()), dtype=given.dtype)
    places = torch.arange(len(values)).as_strided(given.shape, given.stride())
    values[places.flatten()] = recorded()[path]
    return values.to(given.device).as_strided(given.shape, given.stride())


'''
_REPEATED = """\
    sys.exit(repeated("Equal inputs", options))
"""
_REPEATED_DRAWS = """\
    same = repeated("Equal inputs, the same state of the generator", options, reseed=True)
    other = repeated("Equal inputs, without reseeding", options, reseed=False)
    print("It draws random numbers: its results are as equal as the states of its generator.")
    sys.exit(same or other)
"""


def script(replay: Replay) -> str:
    """Return the text of the script."""
    threads = "torch.get_num_threads()"
    if replay.threads is not None:
        threads = str(replay.threads)
    reseed_parameter, reseed, passes = "", "", _REPEATED
    if replay.draws:
        reseed_parameter, reseed, passes = ", reseed", _reseed(replay), _REPEATED_DRAWS
    settings = ""
    if replay.deterministic:
        settings = f"{INDENT}torch.use_deterministic_algorithms(True)\n"
    values, reader, inputs, says_values = _MADE, "", _INPUTS, ""
    if replay.values:
        values, reader, inputs, says_values = _made(replay), _reader(replay), _FILLED, _TOLD
    names = ["argparse", "sys"]
    if replay.reads_unfilled:
        names.append("itertools")
    if replay.values:
        names += ["functools", "json", "pathlib"]
    imports = "".join(f"import {name}\n" for name in sorted(names))
    lines = []
    if replay.of == "module":
        lines += ["torch.manual_seed(SEED)", f"MODULE = {replay.name}({replay.constructor})"]
    if replay.own_generator:
        lines.append("GENERATORS = {}")
    if replay.reads_unfilled:
        lines.append("LEFT = itertools.count(1)")
    state = "".join(f"{line}\n" for line in lines)
    call = f"torch.ops.{replay.name}(**arguments)"
    if replay.of == "module":
        call = 'MODULE.to(arguments["input"].device)(**arguments)'
    if replay.name.startswith(tuple(f"aten.{start}" for start in _WRITES_ONLY)):
        operation = f"{INDENT}{call}\n{INDENT}return list(arguments.values())\n"
    else:
        operation = f"{INDENT}return {call}\n"
    used = {one.fill for _, one in replay.tensors}
    makers = "".join(f"{text}\n" for fill, text in _MAKERS.items() if fill in used)
    return Template(_template()).substitute(
        NAME=replay.name,
        DEVICE=replay.device,
        THREADS=threads,
        MADE=values,
        IMPORTS=imports,
        STATE=state,
        OPERATION=operation,
        ARGUMENTS=_arguments(replay),
        MAKERS=makers,
        READER=reader,
        INPUTS=inputs,
        TOLD=says_values,
        RESEED_PARAMETER=reseed_parameter,
        RESEED=reseed,
        SETTINGS=settings,
        PASSES=passes,
    )


@cache
def _template() -> str:
    template = resources.files("reprocheck.replay").joinpath("templates/torch.txt")
    return template.read_text("utf-8")


def _made(replay: Replay) -> str:
    """Return lines that say where the values come from."""
    recorded = ", ".join(map(repr, replay.values))
    text = (
        f"The values of {recorded} are those of the training where {NAME} lies beside this script."
        " All others are made here, from a seed."
    )
    return "\n".join(wrap(text, WIDTH))


def _reader(replay: Replay) -> str:
    tensors = [(path, one) for path, one in replay.tensors if path in replay.values]
    types = [f'{INDENT}"{path}": torch.{one.dtype},\n' for path, one in tensors]
    return Template(_READER).substitute(NAME=NAME, TYPES="".join(types))


def _reseed(replay: Replay) -> str:
    """Return lines that reset the generator before each call, and give it to the call."""
    generator = "torch.manual_seed(SEED)"
    if not replay.own_generator:
        return f"{INDENT * 2}if reseed:\n{INDENT * 3}{generator}\n"
    return (
        f"{INDENT * 2}if reseed or options.device not in GENERATORS:\n"
        f"{INDENT * 3}generator = torch.Generator(options.device).manual_seed(SEED)\n"
        f"{INDENT * 3}GENERATORS[options.device] = generator\n"
        f'{INDENT * 2}arguments["generator"] = GENERATORS[options.device]\n'
    )


def _arguments(replay: Replay) -> str:
    lines = []
    for name, argument in replay.arguments:
        first, *rest = _lines(argument, 2)
        lines += [f'{INDENT * 2}"{name}": {first}', *rest]
    return "\n".join(lines)


def _lines(argument: Argument, depth: int) -> list[str]:
    """Return an argument as lines of code, the last with a comma; the first is not indented."""
    if not isinstance(argument, tuple) or not _holds_tensor(argument):
        return [f"{_code(argument)},"]
    lines = ["["]
    for one in argument:
        first, *rest = _lines(one, depth + 1)
        lines += [f"{INDENT * (depth + 1)}{first}", *rest]
    return [*lines, f"{INDENT * depth}],"]


def _holds_tensor(argument: Argument) -> bool:
    if isinstance(argument, tuple):
        return any(map(_holds_tensor, argument))
    return isinstance(argument, TensorArgument)


def _code(argument: Argument) -> str:
    """Return an argument in one line of code."""
    if isinstance(argument, TensorArgument):
        given = [_sizes(argument.shape), _sizes(argument.strides), f"torch.{argument.dtype}"]
        if argument.fill == "integers":
            given += [str(argument.low), str(argument.high)]
        return f"make.{_CALLS[argument.fill]}({', '.join(given)})"
    if isinstance(argument, Constant):
        return argument.name
    if isinstance(argument, OnDevice):
        return "make.device"
    if isinstance(argument, tuple):
        return f"[{', '.join(map(_code, argument))}]"
    if isinstance(argument, float) and not isfinite(argument):
        return f'float("{argument}")'
    if isinstance(argument, str):
        return f'"{argument}"'
    return repr(argument)


def _sizes(sizes: Sequence[int]) -> str:
    return repr(tuple(sizes))
