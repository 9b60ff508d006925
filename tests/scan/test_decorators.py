"""Decorators of the user's: what they do around a function happens when the function is called."""

from __future__ import annotations

import textwrap

import pytest

from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

PLAIN = """\
def seeded(function):
    @functools.wraps(function)
    def wrapper(*args, **named):
        {before}
        result = function(*args, **named)
        {after}
        return result

    return wrapper
"""
FACTORY = f"""\
def seeded(number):
    def decorate(function):
{textwrap.indent(PLAIN.partition(chr(10))[2], "    ")}
    return decorate
"""
OBJECT = f"""\
class seeded:
    def __init__(self, number):
        self.number = number

    def __call__(self, function):
{textwrap.indent(PLAIN.partition(chr(10))[2], "    ")}
"""
TRAINING = """\
import functools
import inspect

import torch

{decorator}

{used}
def main():
    model = torch.nn.Linear(4, 1)
    model(torch.ones(2, 4)).sum().backward()
    return model


if __name__ == "__main__":
    main()
"""
FORMS = {
    "plain": (PLAIN, "@seeded"),
    "factory": (FACTORY, "@seeded(3)"),
    "object": (OBJECT, "@seeded(3)"),
}
SEED = "torch.manual_seed(3)"


def codes(text: str) -> list[str]:
    return [one.code for one in findings(of_text({"train.py": text}))]


def training(form: str, before: str = "pass", after: str = "pass") -> str:
    decorator, used = FORMS[form]
    return TRAINING.format(decorator=decorator.format(before=before, after=after), used=used)


@pytest.mark.parametrize("form", FORMS)
def test_a_decorator_that_seeds_first_seeds_what_the_function_builds(form: str) -> None:
    assert codes(training(form, before=SEED)) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_decorator_that_seeds_afterwards_comes_too_late(form: str) -> None:
    assert codes(training(form, after=SEED)) == ["RC302"]


@pytest.mark.parametrize("form", FORMS)
def test_a_decorator_that_seeds_nothing_changes_nothing(form: str) -> None:
    assert codes(training(form)) == ["RC301"]


def test_a_decorator_that_looks_at_the_function_does_not_call_it() -> None:
    text = training("factory", before=SEED).replace(
        "def decorate(function):", "def decorate(function):\n        inspect.signature(function)"
    )
    assert codes(text) == []


def test_a_method_is_wrapped_as_a_function_is() -> None:
    text = f"""\
import functools
import torch

{FACTORY.format(before=SEED, after="pass")}

class Trainer:
    @seeded(3)
    def train(self, size, rate=0.1):
        self.model = torch.nn.Linear(size, 1)
        self.model(torch.ones(2, size)).sum().backward()


Trainer().train(4)
"""
    assert codes(text) == []


def test_functions_behind_the_same_decorator_are_all_seen() -> None:
    parts = [
        f"@seeded(3)\ndef part_{number}():\n    {body}\n"
        for number, body in enumerate(["pass"] * 8 + ["torch.nn.Linear(1, 1)(x)"])
    ]
    calls = "\n".join(f"part_{number}()" for number in range(9))
    text = "\n".join(
        [
            "import functools",
            "import torch",
            FACTORY.format(before="pass", after="pass"),
            *parts,
            calls,
            "x.backward()",
        ]
    )
    assert codes(text) == ["RC301"]
