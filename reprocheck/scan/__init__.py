'''The static scan: sources of randomness in source code, found without running it.

Of the package it imports `rules`, `language`, `files`, `settings` and `errors`.

`scan(paths)` gives a `Result`; `patched(result)` what the files look like once fixed.

How a check is written
======================
A check is a generator of hits in a file of `checks/`, one file a topic. Its codes are entries of
the catalogue (`rules/entries/*.toml`) with `scan = true`, a `severity` and, where it can be fixed,
`patch = true`; their `bad` and `good` are its first tests.

    from collections.abc import Iterator

    from reprocheck.scan.order import Order
    from reprocheck.scan.registry import Hit, check_programs, hit

    SEEDS = ("torch.manual_seed", "lightning.pytorch.seed_everything", "transformers.set_seed")

    @check_programs("RC302")
    def seed_after_model(order: Order) -> Iterator[Hit]:
        """A seed that comes after weights were drawn, and none before them."""
        for layer in order.calls("torch.nn.Linear", "torch.nn.Conv2d"):
            seed = next(order.after(layer, *SEEDS), None)
            if seed is not None and next(order.before(layer, *SEEDS), None) is None:
                yield hit("RC302", seed, f"the weights were drawn before, in line {layer.line}")
                return

`check_programs` registers what is run for each whole program, `check_orders` what is run for each
order. `check` registers a function of `(module: Module, project: Project)`, which is run once for
each module and may look at its text. It sees

- `module.orders`: what is executed. For an entry module one `Order` with `whole=True`, in which the
  user's own functions and modules stand inlined where they are called; then one order
  (`whole=False`) for each function and class that no entry module reaches, and for the body of a
  module that is no entry. A hit may lie in another module than the order's root: `step.module`.
  Duplicates are dropped.
- `module.calls("os.listdir", ...)`: the calls in the text of this module by name, executed or not,
  as `ast.Call` nodes; `module.nodes(ast.Assign)` (faster than `ast.walk`), `module.names.of(node)`,
  `module.parent(node)`, `module.function_of(node)` and `module.source`.

An order is a sequence of steps, and lookups on it:

    order.calls("numpy.random.*")    calls by name, in order
    order.methods("backward")        calls by the last part of the name, whatever the object is
    order.before(step, ...)          also `.after`
    order.stores("torch.backends.cudnn.benchmark")    assignments
    order.environment("PYTHONHASHSEED")
    order.imports("torch"), order.loops()

    call.name                        "torch.Generator().manual_seed", "?.step"
    call.argument(1, "shuffle")      a Value; None where it is not given; UNKNOWN where `*args` or
                                     `**kwargs` may hide it
    call.conditions, call.loops, call.contexts, call.through, call.by
                                     how it is reached (see `steps.Step`)
    call.own                         a function or class of the user's (its steps follow)

Values (`values`) are followed through variables, attributes of objects, arguments, returns,
containers:

    value.made_by("torch.Generator")   the call that made it, or None
    order.on(value, "manual_seed")     calls of methods of that very object: is this generator
                                       seeded, and where
    order.flow(value)                  every step that takes it or something made of it: does
                                       `sorted` come, before a loop
    value.calls("time.time")           calls in which it has its origin:
                                       `manual_seed(int(time.time()) % 1000)`
    isinstance(value, Constant)        literals and arithmetic with them: value.value
    isinstance(value, Instance)        an object of a class of the user's:
                                       value.is_a("torch.nn.Module")

Names are those under which a thing is documented, whatever the import:
`torch.nn.functional.dropout`, `torch.utils.data.DataLoader`, `keras.layers.Dropout` (also for
`tf.keras`), `lightning.pytorch.Trainer`, `mindspore.nn.Dropout`, `builtins.sorted`, `builtins.set`.
The result of a call is `NAME()`, so that `Path("x").glob` is `pathlib.Path().glob` and
`self.rng.shuffle` is `numpy.random.default_rng().shuffle`. Methods that give back their object
(`manual_seed` of a generator, `to`, `cuda`, `eval`, ...) leave the value what it is.

In tests: `reprocheck.scan.programs.of_text({"train.py": text})` is a project without files,
`reprocheck.scan.judge.findings(project)` what is found in it.
'''

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reprocheck.fixes.fixability import patched as patched, scan as scan
    from reprocheck.scan.finding import (
        Finding as Finding,
        Result as Result,
        Unreadable as Unreadable,
    )

__all__ = ["Finding", "Result", "Unreadable", "patched", "scan"]

_HOMES = {
    **dict.fromkeys(("Finding", "Result", "Unreadable"), "reprocheck.scan.finding"),
    **dict.fromkeys(("patched", "scan"), "reprocheck.fixes.fixability"),
}
"""Where the public names live: both functions know the patches, which stand above the scan."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
