"""Controls that act in plain Python and NumPy, on scripts that draw, read clocks, list folders and
start processes.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.child.controls.python_runs import SCRIPTS, Ran, under
from tests.conftest import CHILD

EXACT = ("seed", "private-rng", "entropy", "clock")
LIBRARY = """
import os, random, time, uuid, datetime
def draws():
    return [os.urandom(4).hex(), str(uuid.uuid4()), time.time(), type(os.getpid()).__name__, str(datetime.datetime.now())]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A module that is installed, so not the user's, and the recorder's folder before it."""
    folder = tmp_path_factory.mktemp("library") / "site-packages"
    folder.mkdir()
    (folder / "library.py").write_text(LIBRARY)
    return os.pathsep.join([str(CHILD), str(folder)])


@pytest.fixture(scope="module")
def draws(tmp_path_factory: pytest.TempPathFactory, site: str) -> list[Ran]:
    """Two runs under all exact controls, and one each under `private-rng` and `entropy` alone."""
    script, folder = [str(SCRIPTS / "draws.py")], tmp_path_factory.mktemp("draws")
    sets: list[tuple[str, ...]] = [
        EXACT,
        EXACT,
        ("private-rng",),
        ("private-rng",),
        ("entropy",),
        ("entropy",),
    ]
    return [
        under(folder / str(number), script, *controls, PYTHONPATH=site)
        for number, controls in enumerate(sets)
    ]


def flat(values: list[object]) -> list[str]:
    return [str(value) for value in values]


def test_runs_under_exact_controls_draw_the_same(draws: list[Ran]) -> None:
    first, second = draws[0].seen, draws[1].seen
    for name in ("default", "private", "entropy", "pid", "clock", "slept"):
        assert first[name] == second[name], name
    assert not draws[0].kind("problem") and not draws[0].kind("unavailable")


def test_different_draws_stay_different(draws: list[Ran]) -> None:
    seen = draws[0].seen
    drawn = [*flat(seen["default"]), *flat(seen["private"]), *flat(seen["entropy"])]
    assert len(set(drawn)) == len(drawn)
    assert seen["entropy"][-1] == 1000


def test_default_generators_hold_the_seed_itself(draws: list[Ran]) -> None:
    assert draws[0].seen["default"] == [random.Random(7).random(), np.random.RandomState(7).rand()]
    assert {"random.seed", "numpy.random.seed"} < draws[0].touched("seed").keys()


def test_private_generators_need_only_their_control_and_entropy_reaches_them_too(
    draws: list[Ran],
) -> None:
    for one, other in ((2, 3), (4, 5)):
        first, second = draws[one].seen, draws[other].seen
        assert first["private"] == second["private"]
        assert all(a != b for a, b in zip(first["default"], second["default"]))
    assert draws[2].seen["entropy"][:6] != draws[3].seen["entropy"][:6]
    assert draws[4].seen["entropy"] == draws[5].seen["entropy"]


def test_a_process_id_is_a_fixed_number_and_still_itself(draws: list[Ran]) -> None:
    seen = draws[0].seen
    assert seen["pid"][3] == seen["pid"][0] == seen["pid"][1] - 7
    assert seen["real pid"] == [True, None, "int", True, 1]


def test_the_clock_advances_a_step_a_call_and_by_sleeping(draws: list[Ran]) -> None:
    seen = draws[0].seen
    assert seen["clock"][1] - seen["clock"][0] == pytest.approx(0.01)
    assert all("2020" in text for text in seen["clock"] if isinstance(text, str) and "-" in text)
    assert "1999" in seen["clock"]
    assert seen["slept"] == 0.26
    assert seen["same class"] == [True] * 6
    assert {
        "time.time",
        "time.time_ns",
        "datetime.now",
        "datetime.utcnow",
        "datetime.today",
        "time.ctime",
    } <= set(draws[0].touched("clock"))


def test_another_seed_is_another_value_of_the_clock_and_of_memory(tmp_path: Path) -> None:
    script = "import time, numpy; print([time.time(), float(numpy.empty(1)[0])])"
    first, again, other = (
        under(tmp_path / name, ["-c", script], "clock", "fill-memory", seed=seed).seen
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    )
    assert first == again
    assert other[0] > first[0] + 3600 and other[1] != first[1]


def test_libraries_keep_entropy_clock_and_process_id(draws: list[Ran]) -> None:
    first, second = draws[0].seen["library"], draws[1].seen["library"]
    assert first[0] != second[0] and first[1] != second[1]
    assert abs(first[2] - time.time()) < 3600
    assert first[3] == "int"
    assert not first[4].startswith("2020")


def test_what_was_touched_is_told_with_the_users_line(draws: list[Ran]) -> None:
    lines = {
        (event["c"], event["w"]): event.get("l", "")
        for event in draws[0].kind("control")
        if event["n"] == 1
    }
    assert lines[("private-rng", "random.Random without a seed")].startswith("draws.py:")
    assert lines[("entropy", "os.urandom")].startswith("draws.py:")
    assert draws[0].touched("private-rng")["random.SystemRandom"] == 3


def test_the_recorder_itself_is_not_reached(draws: list[Ran]) -> None:
    (name,) = draws[0].names
    (hello,) = draws[0].kind("process")
    assert abs(int(name.split("-")[1].split(".")[0]) / 1e9 - time.time()) < 3600
    assert abs(hello["time"] - time.time()) < 3600 and type(hello["pid"]) is int


LIBRARY_SETTINGS = """
import dataclasses, time
@dataclasses.dataclass
class LibrarysOwn:
    time_ns: int = dataclasses.field(default_factory=time.time_ns)
"""


def test_fields_of_the_users_classes_are_read_by_the_user_and_those_of_a_library_are_not(
    tmp_path: Path,
) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "library_settings.py").write_text(LIBRARY_SETTINGS)
    path = os.pathsep.join([str(CHILD), str(packages)])
    first, second = (
        under(
            tmp_path / str(number),
            [str(SCRIPTS / "fields.py")],
            "clock",
            "entropy",
            PYTHONPATH=path,
        )
        for number in (1, 2)
    )
    assert first.seen["clock"] == second.seen["clock"]
    assert first.seen["entropy"] == second.seen["entropy"]
    assert abs(first.seen["library"] / 1e9 - time.time()) < 3600
    lines = {event["l"] for event in first.kind("control") if event["n"] == 1}
    assert lines == {"field_settings.py:36", "fields.py:8"}


def test_a_field_that_a_library_fills_for_the_users_class_is_read_by_the_user(
    tmp_path: Path,
) -> None:
    packages = tmp_path / "site-packages" / "pydantic"
    packages.mkdir(parents=True)
    (packages / "__init__.py").write_text("")
    (packages / "main.py").write_text("def made(factory):\n    return factory()\n")
    script = "import json, time, uuid; from pydantic.main import made; print(json.dumps([made(time.time_ns), str(made(uuid.uuid4))]))"
    path = os.pathsep.join([str(CHILD), str(packages.parent)])
    first, second = (
        under(tmp_path / str(number), ["-c", script], "clock", "entropy", PYTHONPATH=path)
        for number in (1, 2)
    )
    assert first.seen == second.seen


def test_a_seed_of_the_scripts_own_wins_and_ranks_differ(tmp_path: Path) -> None:
    script = "import random; a = random.random(); random.seed(3); print([a, random.random()])"
    alone, rank = (
        under(tmp_path / str(r), ["-c", script], "seed", "private-rng", RANK=str(r), WORLD_SIZE="4")
        for r in (0, 3)
    )
    own = random.Random(3).random()
    assert alone.seen == [random.Random(7).random(), own]
    assert rank.seen == [random.Random(10).random(), own]


def test_a_draw_in_a_library_is_told_with_the_line_that_called_it(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "own_library.py").write_text(
        "import random\nimport numpy.random\n\n"
        "def sample():\n    return random.sample(range(9), 2)\n\n"
        "def noise():\n    return numpy.random.normal()\n"
    )
    script = tmp_path / "train.py"
    script.write_text(
        f"import sys\nsys.path.append({str(packages)!r})\nimport own_library\n"
        "for _ in range(9):\n    own_library.sample()\nown_library.noise()\n"
        "import random\nrandom.seed(3)\nrandom.random()\nprint([own_library.random.random()])\n"
    )
    ran = under(tmp_path / "run", [str(script)], "seed")
    assert ran.seen
    told = {(one["w"], one.get("l")) for one in ran.kind("control") if one.get("d")}
    assert told == {
        ("numbers drawn from random", f"{script}:5"),
        ("numbers drawn from numpy.random", f"{script}:6"),
    }


def test_a_control_can_leave_a_place_alone_and_the_others_keep_their_numbers(
    tmp_path: Path,
) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import json, random\nimport numpy.random\n"
        "first = random.Random().random()\nsecond = random.Random().random()\n"
        "third = numpy.random.default_rng().random()\nfourth = numpy.random.default_rng().random()\n"
        "fifth = random.SystemRandom().random()\nsixth = random.SystemRandom().random()\n"
        "drawn = [first, second, third, fourth, random.random(), numpy.random.random(), fifth, sixth]\n"
        "print(json.dumps(drawn))\n"
    )
    places = [*(f"private-rng@{script}:{line}" for line in (4, 5, 7)), "seed@numpy.random"]
    controls = ("seed", "private-rng")
    whole = under(tmp_path / "whole", [str(script)], *controls)
    spared = [
        under(tmp_path / name, [str(script)], *controls, spared=places) for name in ("one", "two")
    ]
    numbers = [ran.seen for ran in (whole, *spared)]
    each = [{row[column] for row in numbers} for column in range(8)]
    assert [len(values) for values in each] == [1, 3, 3, 1, 1, 3, 3, 1]
    touched = spared[0].touched("private-rng")
    assert touched == {
        "random.Random without a seed": 1,
        "a seed of numpy.random": 1,
        "random.SystemRandom": 1,
    }
    assert "numbers drawn from numpy.random" not in spared[0].touched("seed")


def test_what_the_system_gives_is_left_alone_at_a_place_and_fixed_at_others(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import json, os, random, tempfile, uuid\n"
        "first = os.urandom(4).hex()\nsecond = os.urandom(4).hex()\n"
        "third = random.Random().random()\nfourth = random.Random().random()\n"
        "fifth = uuid.uuid1().hex\nsixth = uuid.uuid1().hex\n"
        "seventh = tempfile.mkdtemp()\neighth = tempfile.mkdtemp()\n"
        "drawn = [first, second, third, fourth, fifth, sixth, seventh, eighth]\n"
        "print(json.dumps([str(one).rpartition('/')[2] for one in drawn]))\n"
    )
    places = [f"entropy@{script}:{line}" for line in (2, 4, 6, 8)]
    whole = under(tmp_path / "whole", [str(script)], "entropy").seen
    one, two = (
        under(tmp_path / name, [str(script)], "entropy", spared=places).seen
        for name in ("one", "two")
    )
    assert [len({*values}) for values in zip(whole, one, two, strict=True)] == [3, 1] * 4


def test_workers_repeat_what_they_draw_and_pools_keep_the_order(tmp_path: Path) -> None:
    runs = [
        under(
            tmp_path / str(n),
            [str(SCRIPTS / "processes.py")],
            "seed",
            "private-rng",
            "entropy",
            "single-worker",
        )
        for n in (1, 2)
    ]
    first, second = (run.seen for run in runs)
    assert first == second
    assert (
        first["as_completed"]
        == first["wait"]
        == first["callbacks"]
        == first["imap_unordered"]
        == first["asyncio"]
        == list(range(9))
    )
    assert first["process pool"] == list(range(4)) and first["nested"] == 4
    drawn = [
        text
        for name in ("in pool", "fork", "spawn")
        for values in first[name]
        for text in flat(values)
    ] + flat(first["os.fork"])
    assert len(set(drawn)) == len(drawn)
    touched = runs[0].touched("single-worker")
    assert {
        "ThreadPoolExecutor of 4",
        "ProcessPoolExecutor of 2",
        "multiprocessing.Pool of 3",
        "asyncio.as_completed",
    } <= set(touched)
    assert "random.seed in a forked process" in runs[0].touched("seed")


def test_folders_are_listed_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    for name in ("c", "a", "d", "b", "e/z", "e/y"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    script = f"""
import glob, json, os, pathlib, shutil
f = {str(folder)!r}
with os.scandir(f) as entries:
    scanned = [entry.name for entry in entries if entry.is_file()]
found = [os.listdir(f), [os.fsdecode(name) for name in os.listdir(os.fsencode(f))], os.listdir(os.open(f, os.O_RDONLY)), scanned]
found += [[n for n in next(os.walk(f))[2]], [os.path.basename(p) for p in glob.glob(f + "/*")], [p.name for p in pathlib.Path(f).iterdir()]]
found += [[p.name for p in pathlib.Path(f).rglob("*")], next(os.walk(f + "/e"))[2]]
found.append([os.listdir in os.supports_fd, os.scandir in os.supports_fd])
shutil.rmtree(f)
print(json.dumps(found))
"""
    ran = under(tmp_path / "run", ["-c", script], "file-order")
    *rest, walked, supported = ran.seen
    assert supported == [True, True] and walked == ["y", "z"]
    for names in rest[:7]:
        assert [name for name in names if name != "e"] == ["a", "b", "c", "d"]
    assert rest[7] == ["a", "b", "c", "d", "e", "y", "z"]
    assert not folder.exists()


def test_arrays_that_nobody_fills_hold_a_pattern(tmp_path: Path) -> None:
    script = "import numpy as np; print([np.empty(2).tolist(), np.empty(1, int).tolist(), np.empty_like(np.ones(1, 'f4')).tolist()])"
    ran = under(tmp_path, ["-c", script], "fill-memory", seed=0)
    assert ran.seen == [[0.5, 0.5], [1], [0.5]]
    assert ran.touched("fill-memory") == {"numpy.empty": 2, "numpy.empty_like": 1}


def test_off_means_that_nothing_is_loaded(tmp_path: Path) -> None:
    script = "import json, sys; print(json.dumps([n for n in sys.modules if n.startswith('reprocheck_child.controls')]))"
    assert under(tmp_path / "off", ["-c", script]).seen == []
    assert under(tmp_path / "on", ["-c", script], "file-order").seen != []


@pytest.mark.parametrize(
    "script",
    [
        "pass",
        "import os, sys; os.execve(sys.executable, [sys.executable, '-c', 'print(1)'], {})",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import random'], env={}, check=True)",
        "import os; os.environ.clear(); import random, datetime, tempfile; random.Random(); tempfile.gettempdir(); datetime.datetime.now()",
        "import os; pid = os.fork(); os._exit(0) if not pid else os.waitpid(pid, 0); import random; random.random()",
        "import os; os.urandom = None; import time; time.time = None; os.listdir = os.getpid = None",
        "import copy, os, pickle, time\nclass T:\n    now = time.time; pid = os.getpid; ls = os.listdir; rest = time.sleep\nt = T()\n"
        "t.now(), t.pid(), t.ls('.'), t.rest(0)\nassert pickle.loads(pickle.dumps(time.time)) is copy.deepcopy(time.time) is time.time",
        "import sys; sys.modules.pop('random', None); import random; del sys.modules['random']; import random; random.random()",
    ],
    ids=[
        "nothing",
        "exec",
        "subprocess",
        "environment",
        "fork",
        "replaced",
        "held in a class",
        "twice",
    ],
)
def test_awkward_scripts_keep_working(tmp_path: Path, script: str) -> None:
    ran = under(
        tmp_path,
        ["-W", "error", "-c", script],
        *EXACT,
        "file-order",
        "single-worker",
        "hash-seed",
        PYTHONHASHSEED="7",
    )
    assert (ran.status, ran.errors) == (0, "")
    assert not ran.kind("problem")


def test_tasks_that_wait_for_each_other_get_their_threads(tmp_path: Path) -> None:
    script = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
sys.modules["reprocheck_child.controls.workers"].PATIENCE = 0.2
barrier = threading.Barrier(3)
with ThreadPoolExecutor(4) as pool:
    print(sorted(future.result() for future in [pool.submit(barrier.wait) for _ in range(3)]))
"""
    ran = under(tmp_path, ["-c", script], "single-worker")
    assert ran.seen == [0, 1, 2]
    assert "wait for each other" in ran.kind("unavailable")[0]["why"]


def test_a_pool_that_is_closed_waits_for_threads_that_it_gets_meanwhile(tmp_path: Path) -> None:
    script = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
sys.modules["reprocheck_child.controls.workers"].PATIENCE = 0.2
barrier = threading.Barrier(3)
pool = ThreadPoolExecutor(4)
futures = [pool.submit(barrier.wait) for _ in range(3)]
pool.shutdown(wait=True)
import json
print(json.dumps([future.done() for future in futures]))
"""
    assert under(tmp_path, ["-c", script], "single-worker").seen == [True, True, True]


def test_libraries_that_have_workers_of_their_own_work_in_one_thread(tmp_path: Path) -> None:
    script = """
import json, threading
from joblib import Parallel, delayed
seen = Parallel(n_jobs=4, prefer="threads")(delayed(threading.get_ident)() for _ in range(8))
print(json.dumps([ident == threading.get_ident() for ident in seen]))
"""
    ran = under(tmp_path, ["-c", script], "single-worker")
    assert ran.seen == [True] * 8
    assert "n_jobs of Parallel" in ran.touched("single-worker")


def test_rows_of_polars_keep_their_order(tmp_path: Path) -> None:
    """A stand-in with the modules and the signatures of Polars."""
    for module in ("dataframe", "lazyframe"):
        folder = tmp_path / "polars" / module
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        kind = {"dataframe": "DataFrame", "lazyframe": "LazyFrame"}[module]
        (folder / "frame.py").write_text(f"""
class {kind}:
    def group_by(self, *by, maintain_order=False, **named):
        return maintain_order

    def unique(self, subset=None, *, keep="any", maintain_order=False):
        return maintain_order
""")
    (tmp_path / "polars" / "__init__.py").touch()
    script = tmp_path / "script.py"
    script.write_text("""
import json
from polars.dataframe.frame import DataFrame
from polars.lazyframe.frame import LazyFrame
frames = (DataFrame(), LazyFrame())
seen = [one.group_by("user", maintain_order=order) for one in frames for order in (False, True)]
print(json.dumps([*seen, *(one.group_by("user") for one in frames), *(one.unique() for one in frames)]))
""")
    ran = under(tmp_path, [str(script)], "single-worker")
    assert ran.seen == [True] * 8
    touched = ran.touched("single-worker")
    assert {"maintain_order of DataFrame", "maintain_order of LazyFrame"} <= touched.keys()


def test_addresses_that_the_system_does_not_fix_are_said(tmp_path: Path) -> None:
    (said,) = under(tmp_path, ["-c", "pass"], "fixed-addresses", PYTHONHASHSEED="7").kind(
        "unavailable"
    )
    assert said["c"] == "fixed-addresses"


def test_a_reset_variable_is_said(tmp_path: Path) -> None:
    script = """
import os, subprocess, sys
environment = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)
"""
    ran = under(tmp_path, ["-c", script], "hash-seed", PYTHONHASHSEED="7")
    assert ran.touched("hash-seed") == {"PYTHONHASHSEED": 1}
    (said,) = ran.kind("unavailable")
    assert said["c"] == "hash-seed" and "PYTHONHASHSEED" in said["why"]


def test_counts_of_a_killed_process_are_at_least_half(tmp_path: Path) -> None:
    ran = under(
        tmp_path,
        ["-c", "import os\nfor _ in range(100): os.urandom(1)\nos.kill(os.getpid(), 9)"],
        "entropy",
    )
    assert ran.touched("entropy")["os.urandom"] == 64


def test_the_child_part_is_what_python_39_reads() -> None:
    import ast

    for path in (CHILD / "reprocheck_child" / "controls").glob("*.py"):
        ast.parse(path.read_text(), feature_version=(3, 9))
    assert json.loads((CHILD / "reprocheck_child" / "shared" / "relations.json").read_text())
    assert sys.version_info >= (3, 11)
