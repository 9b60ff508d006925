"""Which files below a folder are training scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.suite.targets import scripts

TRAINING = "import torch\nloss = torch.ones(1).sum()\nloss.backward()\n"
IN_MAIN = "import torch\n\ndef main():\n    torch.ones(1).sum().backward()\n\nmain()\n"
GUARDED = IN_MAIN.replace("\nmain()", '\nif __name__ == "__main__":\n    main()')

FOUND = {
    "train.py": (TRAINING, ("train.py",)),
    "deep/in main.py": (IN_MAIN, ("deep/in main.py",)),
    "guarded.py": (GUARDED, ("guarded.py",)),
    "plain.py": ("import reprocheck\nreprocheck.log_loss(1.0)\n", ("plain.py",)),
    "trainer.py": ("from transformers import Trainer\nTrainer().train()\n", ("trainer.py",)),
    "ranks.py": (
        GUARDED.replace(
            "def main():\n", "def main():\n    torch.distributed.init_process_group()\n"
        ),
        ("--", "torchrun", "--nproc-per-node", "2", "ranks.py"),
    ),
    "vision/train.py": ("from vision.data import load\n" + GUARDED, ("-m", "vision.train")),
    "torch/own.py": ("from torch.nn import Linear\n" + GUARDED, ("torch/own.py",)),
    "package/inner/start.py": (
        "from ..model import net\n" + GUARDED,
        ("-m", "package.inner.start"),
    ),
}
PASSED_OVER = {
    "a model": ("model.py", "import torch\n\ndef step(loss):\n    loss.backward()\n"),
    "an evaluation": ("evaluate.py", "import torch\nprint(torch.ones(1))\n"),
    "no framework": ("fit.py", "import curves\ncurves.fit()\n"),
    "a mention": ("notes.py", '"""About torch."""\nfit = print\nfit()\n'),
    "a test": ("test_train.py", TRAINING),
    "the tests": ("tests/train.py", TRAINING),
    "a virtual environment": ("venv/train.py", TRAINING),
    "a hidden folder": (".cache/train.py", TRAINING),
    "Python 2": ("old.py", TRAINING + "print 'done'\n"),
}


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_training_scripts_are_found_with_the_words_that_start_them(tmp_path: Path) -> None:
    for name, (text, _) in FOUND.items():
        write(tmp_path, name, text)
    write(tmp_path, "vision/data.py", "load = print\n")
    write(tmp_path, "package/__init__.py", "")
    write(tmp_path, "package/inner/__init__.py", "")
    found = {str(one.path.relative_to(tmp_path)): one for one in scripts.below(tmp_path, tmp_path)}
    assert {name: one.words for name, one in found.items()} == {
        name: words for name, (_, words) in FOUND.items()
    }
    assert {one.folder for one in found.values()} == {tmp_path}


@pytest.mark.parametrize(("name", "text"), PASSED_OVER.values(), ids=PASSED_OVER)
def test_other_files_are_passed_over(name: str, text: str, tmp_path: Path) -> None:
    write(tmp_path, name, text)
    assert scripts.below(tmp_path, tmp_path) == []


def test_a_script_is_named_from_where_it_starts(tmp_path: Path) -> None:
    write(tmp_path, "vision/train.py", TRAINING)
    (found,) = scripts.below(tmp_path / "vision", tmp_path)
    assert found.words == ("vision/train.py",)
