"""The option by which a script is told to resume, found in its source."""

from __future__ import annotations

import ast

import pytest

from reprocheck.resume.options import option_of

ARGPARSE = "import argparse\np = argparse.ArgumentParser()\n"
USE = "run(torch.load(args.{0}))\n"


def found(*texts: str, given: tuple[str, ...] = ()) -> str:
    """The words to add; "" where no option is found."""
    trees = {f"{number}.py": ast.parse(text) for number, text in enumerate(texts)}
    option = option_of(trees, given)
    return option.words if option else ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'{ARGPARSE}p.add_argument("--resume", action="store_true")', "--resume"),
        (f'{ARGPARSE}p.add_argument("-r", "--resume-from")', "--resume-from {checkpoint}"),
        (f'{ARGPARSE}p.add_argument("--resume", nargs="?", const="auto")', "--resume"),
        (f'{ARGPARSE}p.add_argument("--resume", type=str2bool)', "--resume true"),
        (f'{ARGPARSE}p.add_argument("--resume", choices=["no", "auto"])', "--resume auto"),
        (
            f'{ARGPARSE}p.add_argument("--resume")\nif args.resume == "latest":\n    pass',
            "--resume latest",
        ),
        (f'{ARGPARSE}p.add_argument("--ckpt_path")', "--ckpt_path {checkpoint}"),
        (f'{ARGPARSE}p.add_argument("--checkpoint")\n{USE}', "--checkpoint {checkpoint}"),
        ('@click.option("--resume/--no-resume", default=False)\ndef f(resume): ...', "--resume"),
        ('@click.option("--restore", is_flag=True)\ndef f(restore): ...', "--restore"),
        ("@app.command()\ndef f(resume_from: str = None): ...", "--resume-from {checkpoint}"),
        ("@app.command()\ndef f(resume: bool = False): ...", "--resume"),
        ('flags.DEFINE_bool("resume", False, "go on")', "--resume"),
        ('flags.DEFINE_string("restore_path", None, "from")', "--restore_path {checkpoint}"),
        ("def main(resume=None): ...\nfire.Fire(main)", "--resume {checkpoint}"),
        ('if "--continue" in sys.argv: ...', "--continue"),
        ('if sys.argv[1] == "resume": ...', "resume"),
        (
            'if "--go-on" in sys.argv:\n    load(sys.argv[sys.argv.index("--resume") + 1])\n'
            'is_resumed = "--resume" in sys.argv',
            "--resume {checkpoint}",
        ),
        (
            "from transformers import HfArgumentParser\nclass A:\n    resume: bool = False",
            "--resume True",
        ),
        ("import tyro\nclass A:\n    resume_from: str = ''", "--resume-from {checkpoint}"),
        (
            "@hydra.main()\ndef main(cfg):\n    f(cfg.trainer.resume_from)",
            "trainer.resume_from={checkpoint}",
        ),
        ("@hydra.main()\ndef main(cfg):\n    if cfg.resume:\n        load()", "resume=true"),
        ("cfg = OmegaConf.merge(a, OmegaConf.from_cli())\nf(cfg.resume)", "resume={checkpoint}"),
        (
            "init_from = 'scratch'\nexec(open('configurator.py').read())\n"
            "if init_from == 'resume': ...",
            "--init_from=resume",
        ),
        ("LightningCLI(Net)", "--ckpt_path {checkpoint}"),
    ],
)
def test_the_option_is_found_with_what_it_takes(text: str, words: str) -> None:
    assert found(text.format("checkpoint")) == words


@pytest.mark.parametrize(
    "option",
    [
        '"--checkpoint-every", type=int',
        '"--save-checkpoint"',
        '"--gradient-checkpointing", action="store_true"',
        '"--checkpoint"',
        '"--no-resume", action="store_true"',
        '"--epochs", type=int',
    ],
)
def test_other_options_are_none(option: str) -> None:
    assert not found(f"{ARGPARSE}p.add_argument({option})")


def test_the_surest_name_of_all_modules_is_taken_and_none_that_is_given() -> None:
    one = f'{ARGPARSE}p.add_argument("--ckpt-path")\np.add_argument("--load_path")\n'
    other = f'{ARGPARSE}p.add_argument("--resume")\n'
    assert found(one, other) == "--resume {checkpoint}"
    assert found(other, given=("train.py", "--resume=a.pt")) == ""


def test_the_line_is_that_of_the_option() -> None:
    option = option_of({"a.py": ast.parse(f'{ARGPARSE}p.add_argument("--resume")')}, ())
    assert option is not None and option.source.at == "a.py:3"
