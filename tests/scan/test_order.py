"""The abstract execution: what is called in which order, with which values, under which
conditions.
"""

from __future__ import annotations

import textwrap

from reprocheck.scan.order import Order
from reprocheck.scan.programs import of_text
from reprocheck.scan.project import Project
from reprocheck.scan.steps import Call, Loop
from reprocheck.scan.values import Constant, Instance


def project(files: dict[str, str] | str) -> Project:
    texts = {"main.py": files} if isinstance(files, str) else files
    return of_text({path: textwrap.dedent(text) for path, text in texts.items()})


def program(files: dict[str, str] | str) -> Order:
    """What happens in `main.py`."""
    return next(module for module in project(files) if module.name == "main").program


def names(order: Order, *wanted: str) -> list[str]:
    return [call.name for call in order.calls(*wanted)]


def test_functions_stand_where_they_are_called() -> None:
    order = program("""
        import torch
        def build():
            return torch.nn.Linear(4, 1)
        def seed(value):
            torch.manual_seed(value)
        def main():
            seed(3)
            model = build()
            model(x).backward()
        if __name__ == "__main__":
            main()
    """)
    assert names(order, "torch.*")[:2] == ["torch.manual_seed", "torch.nn.Linear"]
    seed, layer = next(order.calls("torch.manual_seed")), next(order.calls("torch.nn.Linear"))
    assert order.is_before(seed, layer)
    assert isinstance(seed.argument(0, "seed"), Constant) and seed.argument(0).value == 3  # type: ignore[union-attr]
    assert [getattr(node, "lineno", 0) for _, node in seed.through] == [12, 8]
    assert order.whole and not order.cut


def test_helpers_of_other_modules_and_packages_are_followed() -> None:
    order = program(
        {
            "main.py": "from tools.seeding import seed_everything\nimport torch\nseed_everything()\ntorch.nn.Linear(1, 1)\nx.backward()\n",
            "tools/__init__.py": "print('imported')\n",
            "tools/seeding.py": "import random, torch\ndef seed_everything(seed=4):\n    random.seed(seed)\n    torch.manual_seed(4)\n",
        }
    )
    assert names(order, "builtins.print", "random.*", "torch.*") == [
        "builtins.print",
        "random.seed",
        "torch.manual_seed",
        "torch.nn.Linear",
    ]
    call = next(order.calls("random.seed"))
    assert call.module.name == "tools.seeding" and isinstance(call.argument(0), Constant)


def test_classes_run_their_constructor_and_forward() -> None:
    order = program("""
        import torch
        from torch import nn
        class Block(nn.Module):
            def __init__(self, p):
                super().__init__()
                self.drop = nn.Dropout(p)
            def forward(self, x):
                return self.drop(x) + torch.rand(3)
        class Net(Block):
            def __init__(self):
                super().__init__(p=0.5)
                self.rng = torch.Generator().manual_seed(1)
        net = Net().to("cuda")
        net(x)
        torch.randperm(4, generator=net.rng)
        loss.backward()
    """)
    assert names(order, "torch.*") == [
        "torch.nn.Module.__init__",
        "torch.nn.Dropout",
        "torch.Generator",
        "torch.Generator().manual_seed",
        "torch.nn.Module().to",
        "torch.nn.Dropout().__call__",
        "torch.rand",
        "torch.randperm",
    ]
    given = next(order.calls("torch.randperm")).argument(None, "generator")
    assert (
        given is not None
        and given.made_by("torch.Generator")
        and next(order.on(given, "manual_seed")).line == 13
    )
    made = [call.result for call in order.calls("main.Net")]
    assert isinstance(made[0], Instance) and made[0].is_a("torch.nn.Module")


def test_conditions_and_constants() -> None:
    order = program("""
        import torch
        def seed_everything(seed=None, deterministic=False):
            if seed is not None:
                torch.manual_seed(seed)
            if deterministic:
                torch.use_deterministic_algorithms(True)
            if torch.cuda.is_available():
                torch.cuda.manual_seed_all(seed)
        seed_everything(1)
        seed_everything()
        torch.rand(1)
        loss.backward()
    """)
    assert names(order, "torch.manual_seed", "torch.use_deterministic_algorithms") == [
        "torch.manual_seed"
    ]
    assert not next(order.calls("torch.manual_seed")).conditions
    assert len(next(order.calls("torch.cuda.manual_seed_all")).conditions) == 1


def test_what_follows_a_branch_that_leaves_is_conditional() -> None:
    order = program("""
        import torch
        def seed(value, flag):
            if not flag:
                return
            torch.manual_seed(value)
        def checked(value):
            if value < 0:
                raise ValueError
            torch.cuda.manual_seed(value)
        seed(0, unknown)
        checked(unknown)
        loss.backward()
    """)
    assert next(order.calls("torch.manual_seed")).conditions
    assert not next(order.calls("torch.cuda.manual_seed")).conditions


def test_arguments_of_a_parser_have_their_defaults() -> None:
    order = program("""
        import argparse, torch
        def arguments():
            parser = argparse.ArgumentParser()
            parser.add_argument("--seed", type=int, default=42)
            parser.add_argument("--fast", action="store_true")
            parser.add_argument("--other-seed", type=int)
            return parser.parse_args()
        def main(args):
            if args.seed is not None:
                torch.manual_seed(args.seed)
            if args.fast:
                torch.rand(1)
            if args.other_seed is not None:
                torch.cuda.manual_seed(args.other_seed)
        main(arguments())
        loss.backward()
    """)
    seed = next(order.calls("torch.manual_seed"))
    assert not seed.conditions and isinstance(seed.argument(0), Constant)
    assert (
        next(order.calls("torch.rand")).conditions
        and next(order.calls("torch.cuda.manual_seed")).conditions
    )


def test_values_flow_through_variables_containers_and_returns() -> None:
    order = program("""
        import os, time, torch
        def listed(folder):
            found = os.listdir(folder)
            return [name for name in found if name.endswith(".png")]
        files = listed("data")
        files = sorted(files)
        seed = int(time.time()) % 1000
        torch.manual_seed(seed)
        loss.backward()
    """)
    listing = next(order.calls("os.listdir"))
    users = [step.name for step in order.flow(listing.result) if isinstance(step, Call)]
    assert "builtins.sorted" in users
    argument = next(order.calls("torch.manual_seed")).argument(0)
    assert argument is not None and [call.name for call in argument.calls("time.*")] == [
        "time.time"
    ]


def test_lists_that_are_filled_later_hold_what_they_were_given() -> None:
    order = program("""
        import glob
        files = []
        for path in glob.glob("*.png"):
            files.append(path)
        files.sort()
        loss.backward()
    """)
    listing = next(order.calls("glob.glob"))
    assert any(isinstance(step, Loop) for step in order.uses(listing.result))
    assert "builtins.list().sort" in [
        step.name for step in order.flow(listing.result) if isinstance(step, Call)
    ]


def test_what_a_library_calls_happens_when_it_is_used() -> None:
    order = program("""
        import random, torch
        from torch.utils.data import DataLoader, Dataset
        class Pictures(Dataset):
            def __len__(self):
                return 10
            def __getitem__(self, index):
                return random.random()
        def seed_worker(_):
            random.seed(torch.initial_seed())
        loader = DataLoader(Pictures(), num_workers=2, worker_init_fn=seed_worker)
        random.seed(0)
        for batch in loader:
            loss.backward()
    """)
    draw = next(order.calls("random.random"))
    assert draw.by is not None and draw.by.name == "torch.utils.data.DataLoader"
    assert [call.line for call in order.before(draw, "random.seed")] == [12, 10]


def test_threads_jit_and_partial() -> None:
    order = program("""
        import functools, threading, jax, torch
        def work(seed):
            torch.manual_seed(seed)
        thread = threading.Thread(target=work, args=(5,))
        thread.start()
        functools.partial(work, seed=6)()
        @jax.jit
        def step(key):
            return jax.random.normal(key)
        step(jax.random.key(0))
        jax.grad(lambda x: torch.rand(1))(2)
        loss.backward()
    """)
    seeds = [call.argument(0).value for call in order.calls("torch.manual_seed")]  # type: ignore[union-attr]
    assert seeds == [5, 6]
    drawn = next(order.calls("jax.random.normal")).argument(0)
    assert (
        drawn is not None
        and drawn.made_by("jax.random.key")
        and names(order, "torch.rand") == ["torch.rand"]
    )


def test_stores_environment_and_contexts() -> None:
    order = program("""
        import os
        import torch
        os.environ["PYTHONHASHSEED"] = "0"
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        os.environ.update(OMP_NUM_THREADS="1")
        cudnn = torch.backends.cudnn
        cudnn.benchmark = True
        with torch.random.fork_rng():
            torch.rand(1)
        loss.backward()
    """)
    assert [
        next(order.environment(name)).line
        for name in ("PYTHONHASHSEED", "CUBLAS_WORKSPACE_CONFIG", "OMP_NUM_THREADS")
    ] == [4, 5, 6]
    assert next(order.stores("torch.backends.cudnn.benchmark")).line == 8
    assert next(order.calls("torch.rand")).contexts[0].made_by("torch.random.fork_rng")
    assert [step.name for step in order.imports("torch")] == ["torch"]
    assert order.is_before(next(order.imports("torch")), next(order.environment("PYTHONHASHSEED")))


def test_a_copy_of_the_environment_is_not_that_of_the_process() -> None:
    order = program("""
        import os
        copied = os.environ.copy()
        copied.update(PYTHONHASHSEED="0")
        copied.setdefault("PYTHONHASHSEED", "0")
    """)
    assert list(order.environment("PYTHONHASHSEED")) == []


def test_recursion_and_depth_end() -> None:
    order = program("""
        import torch
        def again(n):
            torch.rand(1)
            return again(n - 1) if n else other(n)
        def other(n):
            return again(n)
        again(5)
        loss.backward()
    """)
    assert 1 <= len(names(order, "torch.rand")) <= 5


def test_a_library_is_analysed_function_by_function() -> None:
    library = """
        import torch
        RATE = 0.1
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(1, 1)
            def forward(self, x):
                return self.layer(x)
        def train(model, generator):
            optimizer = torch.optim.SGD(model.parameters(), RATE)
            torch.randperm(3, generator=generator)
        def seed():
            torch.manual_seed(0)
    """
    alone = of_text(
        {"library.py": textwrap.dedent(library), "package/__init__.py": ""}, single=False
    )
    module = next(one for one in alone if one.name == "library")
    assert not module.is_entry
    orders = {order.function: order for order in module.orders}
    assert set(orders) == {"", "library.train", "library.seed", "library.Net.__init__"}
    assert not any(order.whole for order in orders.values())
    assert names(orders["library.Net.__init__"], "torch.nn.*") == [
        "torch.nn.Module.__init__",
        "torch.nn.Linear",
        "torch.nn.Linear().__call__",
    ]
    assert next(orders["library.train"].calls("torch.optim.SGD")).argument(1).value == 0.1  # type: ignore[union-attr]

    used = project(
        {
            "library.py": library,
            "main.py": "import library\nlibrary.seed()\nlibrary.Net()(x).backward()\n",
        }
    )
    for one in used:
        _ = one.program
    rest = {order.function for one in used if one.name == "library" for order in one.orders}
    assert rest == {"", "library.train"}


def test_cyclic_imports_are_executed_once() -> None:
    order = program(
        {
            "main.py": "import one\none.f()\nloss.backward()\n",
            "one.py": "import two, random\nrandom.seed(1)\ndef f():\n    return two.g()\n",
            "two.py": "import one, random\nrandom.random()\ndef g():\n    return random.randint(0, 1)\n",
        }
    )
    assert names(order, "random.*") == ["random.random", "random.seed", "random.randint"]


def test_a_module_that_is_taken_from_its_package_is_executed() -> None:
    drawn = "import random\nORDER = random.random()\n"
    main = "from parts import drawn\nimport random\nrandom.seed(drawn.ORDER)\nloss.backward()\n"
    inside = {"main.py": main, "parts/drawn.py": drawn, "parts/__init__.py": ""}
    assert names(program(inside), "random.*") == ["random.random", "random.seed"]
    order = program({**inside, "parts/__init__.py": "drawn = 3\n"})
    assert names(order, "random.*") == ["random.seed"], (
        "the package has something else of that name"
    )
