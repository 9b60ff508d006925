"""Clocks that a configuration reads when the script asks for a value: `${now:%f}` of Hydra and
OmegaConf.
"""

from __future__ import annotations

from pathlib import Path

from tests.e2e.explain.explaining import explain

RESOLVING = """import antlr4
from hydra.core import utils
class Config:
    def __getattr__(self, name):
        return antlr4.visit(self)
    def visit_interpolation(self):
        return utils.now()
"""
PARSER = """def visit(visitor):
    return visitor.visit_interpolation()
"""
UTILS = """import datetime, os
def now():
    return datetime.datetime.now().strftime("%f")
def run_job(task):
    os.environ["FOLDER"] = now()
    return task()
"""
MAIN = """from hydra.core import utils
def main(task):
    return lambda: utils.run_job(task)
"""
SCRIPT = """import os, sys
sys.path.insert(0, os.environ["LIBRARY"])
import random
import hydra, omegaconf, reprocheck
config = omegaconf.Config()
@hydra.main
def train():
    random.seed(int(config.seed))
    for step in range(20):
        reprocheck.log_loss(10 * random.random() + FOLDER)
train()
"""


def library(folder: Path) -> str:
    """What stands for Hydra and OmegaConf: a resolver that a parser calls, and a decorator that
    reads the clock for a folder of its own.
    """
    packages = folder / "site-packages"
    (packages / "hydra" / "core").mkdir(parents=True)
    (packages / "omegaconf").mkdir()
    (packages / "antlr4").mkdir()
    (packages / "antlr4" / "__init__.py").write_text(PARSER)
    (packages / "hydra" / "core" / "utils.py").write_text(UTILS)
    (packages / "hydra" / "__init__.py").write_text(MAIN)
    (packages / "omegaconf" / "__init__.py").write_text(RESOLVING)
    return str(packages)


def test_a_seed_that_the_configuration_takes_from_the_clock_is_removed_by_clock(
    tmp_path: Path,
) -> None:
    explained = explain(SCRIPT.replace("FOLDER", "0"), tmp_path / "work", LIBRARY=library(tmp_path))
    assert explained.report["controls"]["smallest"] == ["clock"]
    cause = explained.report["causes"][0]
    assert (cause["confidence"], cause["source"]) == ("confirmed", {"file": "train.py", "line": 8})


def test_the_clock_of_the_folder_that_hydra_makes_is_its_own(tmp_path: Path) -> None:
    """Two runs under `clock` would otherwise write into one folder."""
    script = SCRIPT.replace("int(config.seed)", "0").replace("FOLDER", "int(os.environ['FOLDER'])")
    explained = explain(script, tmp_path / "work", LIBRARY=library(tmp_path))
    assert explained.report["controls"]["smallest"] == []
    assert "datetime.now" not in {
        touch["what"] for touch in explained.report["controls"]["touched"]
    }
