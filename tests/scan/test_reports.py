"""Causes that people reported are found, and programs that do it right have no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.scan_reports.causes import HERE, Cause, causes
from benchmarks.scan_reports.judgements import judgements
from benchmarks.scan_reports.page import ROUNDS, wilson
from reprocheck.errors import SettingsError
from reprocheck.scan import options, scan
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

FILES = sorted(path.name for path in HERE.glob("causes*.txt"))
RIGHT = {
    "a random state of UMAP": "import umap\nx = umap.UMAP(random_state=0).fit_transform(y)\n",
    "one worker of gensim": "import gensim\nm = gensim.models.Word2Vec(text, workers=1, seed=1)\n",
    "one way of adding of LightGBM": (
        "import lightgbm\nparams = {'seed': 1, 'force_row_wise': True}\n"
        "lightgbm.train(params, data)\n"
    ),
    "one job of optuna": (
        "import optuna\nstudy = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))\n"
        "study.optimize(run, n_trials=3, n_jobs=1)\n"
    ),
    "a worker of a pool that seeds": (
        "import random, multiprocessing, numpy\nfrom sklearn.linear_model import Lasso\n"
        "def draw(n):\n    random.seed(n)\n    return random.random()\n"
        "rows = numpy.array(multiprocessing.Pool(2).map(draw, range(9)))\nLasso().fit(rows, rows)\n"
    ),
    "a spawned process that seeds": (
        "import torch\ndef run(rank):\n    torch.manual_seed(rank)\n    net = torch.nn.Linear(2, 1)\n"
        "    net(torch.ones(2)).backward()\n"
        "if __name__ == '__main__':\n    torch.multiprocessing.spawn(run, nprocs=2)\n"
    ),
    "memory that is filled before a layer is given it": (
        "import torch\ntorch.manual_seed(0)\nx = torch.empty(2)\nx.fill_(1)\n"
        "torch.nn.Linear(2, 1)(x).backward()\n"
    ),
    "a pool whose results lie under keys": (
        "import torch, multiprocessing\nfor n, image in multiprocessing.Pool(2).imap_unordered(f, x):"
        "\n    table.put(str(n), image)\n"
    ),
}
SHOWN = "import torch\nprint(torch.nn.Linear(2, 1)(torch.ones(2)))\n"
TESTED = "import pytest\nimport torch\ntorch.nn.Linear(2, 1)(torch.ones(2)).backward()\n"


NET = "import torch\n\n\nclass Net(torch.nn.Linear):\n    pass\n\n\n"
EXAMPLE = """\
if __name__ == "__main__":
    net = Net(2, 1)
    optimizer = torch.optim.SGD(net.parameters())
    net(torch.randn(4, 2)).sum().backward()
    optimizer.step()
"""


def found(cause: Cause) -> set[tuple[str, int, str]]:
    project = of_text(dict(cause.files))
    return {(one.path, one.line, one.code) for one in findings(project)}


def test_nine_of_ten_reported_causes_are_found_at_their_lines() -> None:
    kept = [cause for name in FILES for cause in causes(name)]
    missed = [
        cause.name
        for cause in kept
        if found(cause).isdisjoint(
            (place.path, place.line, code) for place in cause.places for code in place.codes
        )
    ]
    assert len(missed) <= len(kept) // 10, missed


def is_told(cause: Cause, *, single: bool) -> bool:
    """Whether a cause is found as an error or a warning."""
    wanted = {(place.path, place.line, code) for place in cause.places for code in place.codes}
    told = findings(of_text(dict(cause.files), single=single))
    return any((one.path, one.line, one.code) in wanted for one in told if one.severity != "note")


def test_nearly_all_causes_are_errors_or_warnings_in_folders_too() -> None:
    kept = [cause for name in FILES for cause in causes(name)]
    told = [cause for cause in kept if is_told(cause, single=True)]
    lost = [cause.name for cause in told if not is_told(cause, single=False)]
    assert len(told) >= 85 and len(lost) <= len(told) // 10, lost


def test_a_cause_has_a_report_of_its_own_and_a_place() -> None:
    kept = [cause for name in FILES for cause in causes(name)]
    reports = [cause.report for cause in kept]
    assert len(kept) >= 80 and len(set(reports)) == len(reports)
    assert all(cause.places and cause.report.startswith("https://") for cause in kept)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_done_right_has_no_finding(name: str) -> None:
    assert findings(of_text({"train.py": RIGHT[name]})) == []


def test_in_a_folder_demonstrations_and_tests_have_no_findings(tmp_path: Path) -> None:
    (tmp_path / "show.py").write_text(SHOWN)
    (tmp_path / "test_net.py").write_text(TESTED)
    assert scan([tmp_path]).findings == ()
    named = scan([tmp_path / "show.py", tmp_path / "test_net.py"]).findings
    assert {Path(one.path).name for one in named} == {"show.py", "test_net.py"}


def test_in_a_folder_examples_below_a_guard_and_measurements_have_no_findings(
    tmp_path: Path,
) -> None:
    package = tmp_path / "nets"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "net.py").write_text(NET + EXAMPLE)
    (tmp_path / "bench.py").write_text(NET + EXAMPLE)
    assert scan([tmp_path]).findings == ()
    reads = EXAMPLE.replace("    net = Net", "    rows = open('x').read()\n    net = Net")
    (package / "net.py").write_text(NET + reads)
    (tmp_path / "bench.py").rename(tmp_path / "train.py")
    assert {Path(one.path).name for one in scan([tmp_path]).findings} == {"net.py", "train.py"}


def test_the_interval_of_a_share_is_the_one_that_wilson_gives() -> None:
    low, high = wilson(9, 10)
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)


def test_each_judgement_names_a_repository_a_commit_and_a_reason() -> None:
    kept = judgements()
    assert len(kept) >= 150 and {one.round for one in kept} == set(ROUNDS)
    assert all(len(one.commit) == 40 and one.reason and one.line > 0 for one in kept)


def test_a_project_may_name_calls_of_its_own_libraries(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import ours\nours.Sampler(3).fit(x)\n")
    here = [("ours.Sampler", "seed")]
    cache = tmp_path / "cache"
    assert scan([tmp_path / "train.py"], cache=cache).findings == ()
    found = scan([tmp_path / "train.py"], libraries=here, cache=cache).findings
    assert [(one.code, one.line) for one in found] == [("RC407", 2)]
    assert scan([tmp_path / "train.py"], cache=cache).findings == ()
    text = '[tool.reprocheck.scan.libraries]\n"ours.Sampler" = "seed"\n'
    (tmp_path / "pyproject.toml").write_text(text)
    assert options.load(tmp_path).libraries == (("ours.Sampler", "seed"),)
    (tmp_path / "pyproject.toml").write_text("[tool.reprocheck.scan]\nlibraries = 1\n")
    with pytest.raises(SettingsError, match="not a table of text"):
        options.load(tmp_path)
