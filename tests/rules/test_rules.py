"""The catalogue and the lists of operators: complete, unique, and true to their sources."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from reprocheck.errors import ReprocheckError
from reprocheck.model import RUNGS
from reprocheck.rules import Entry, catalogue, entry, find, known, nearest, operator_lists, raised
from reprocheck.rules.catalogue import ENTRIES, entries_of
from reprocheck.rules.fix_text import is_code, language

Kind = TypeVar("Kind", bound=ast.AST)
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "rules.md"
FRAMEWORKS = {"any", "torch", "mindspore", "tensorflow", "keras", "jax", "paddle"}
LIBRARIES = {
    "accelerate",
    "lightning",
    "transformers",
    "torch.distributed.checkpoint",
    "stable_baselines3",
}
WITHOUT_NETS = {"python", "numpy", "sklearn"}
"""What a program without a framework draws with."""
DEVICES = {"any", "cpu", "cuda", "npu"}
NEEDS_MORE = re.compile(
    r"torch|mindspore|tensorflow|jax|sklearn|Path\(\"step|os\.environ|numpy|keras|flash_attn|mamba"
)
GENERATORS = {
    "numpy.random.Generator",
    "numpy.random.RandomState",
    "random.Random",
    "torch.Generator",
}
"""Classes of generators that a script makes for itself."""
HOLDERS = {
    "no loader",
    "an object of the script",
    "an object of the script (lightning)",
    "an attribute of a module",
    "a hyper-parameter (keras)",
    "an average of weights",
    "an average of weights (accelerate)",
    "an average of weights (lightning)",
    "an average of weights (torch.distributed.checkpoint)",
}
"""What holds something that the `state_dict` of a model or an optimizer does not have."""
OF_A_RESUME = {"RC102", "RC107", *(f"RC1{number}" for number in range(10, 21))}
"""Entries whose code is filled in with the names of the script, or says what a checkpoint holds."""
COMMAND = re.compile(r"^(export |pip |python |reprocheck |torchrun |[A-Z_]+=\S+ |$|#)")


def snippets(entry: Entry) -> list[str]:
    return [
        entry.bad,
        entry.good,
        *(fix for fix in (entry.fix, *entry.fixes.values()) if is_code(fix)),
    ]


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.code)
def test_an_entry_is_complete(entry: Entry) -> None:
    assert re.fullmatch(r"RC\d\d\d", entry.code) and re.fullmatch(r"[a-z]+(-[a-z]+)+", entry.name)
    assert entry.rung in RUNGS
    assert (
        entry.title.startswith(("cuDNN", entry.title[0].upper()))
        and not entry.title.endswith(".")
        and len(entry.title) <= 100
    )
    assert entry.why.endswith(".") and entry.shows.endswith((".", "`."))
    assert entry.frameworks and set(entry.frameworks) <= FRAMEWORKS
    assert {
        word for key in entry.fixes.keys() - HOLDERS for word in key.split()
    } <= FRAMEWORKS | WITHOUT_NETS | LIBRARIES | DEVICES | GENERATORS
    assert set(entry.titles) <= FRAMEWORKS | WITHOUT_NETS | LIBRARIES
    assert entry.devices and set(entry.devices) <= DEVICES
    assert entry.bad != entry.good and entry.fix


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.code)
def test_the_fix_for_all_names_no_framework_unless_the_entry_is_of_it(entry: Entry) -> None:
    named = set(re.findall(r"torch|mindspore|tensorflow|keras|jax|numpy|sklearn", entry.fix))
    assert named <= set(entry.frameworks)


def test_a_fix_and_a_title_are_those_of_the_first_framework_that_has_one() -> None:
    weights, private = entry("RC301"), entry("RC601")
    assert "torch.manual_seed" in weights.fix_for(["torch", "numpy"])
    assert "torch" not in weights.fix_for(["numpy", "python"])
    assert weights.fix_for(["paddle"]) == weights.fix
    assert (
        private.title_for(["sklearn", "python"])
        == private.titles["python"]
        != private.title
        == private.title_for(["torch"])
    )


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.code)
def test_code_to_paste_is_python_or_commands(entry: Entry) -> None:
    for text in snippets(entry):
        assert language(text) == "python" or all(
            COMMAND.match(line) for line in text.splitlines()
        ), text


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.code)
def test_code_to_paste_needs_no_name_of_the_program(entry: Entry) -> None:
    if entry.code in OF_A_RESUME:
        return
    for text in (fix for fix in (entry.fix, *entry.fixes.values()) if language(fix) == "python"):
        tree = ast.parse(text)
        bound = {one.asname or one.name.partition(".")[0] for one in nodes(tree, ast.alias)}
        names = {one.id for one in nodes(tree, ast.Name)}
        assert names <= bound | FRAMEWORKS | WITHOUT_NETS | set(dir(builtins)), text


def nodes(tree: ast.AST, kind: type[Kind]) -> Iterator[Kind]:
    return (one for one in ast.walk(tree) if isinstance(one, kind))


def test_codes_and_names_are_unique_and_in_order() -> None:
    codes = [entry.code for entry in catalogue()]
    assert codes == sorted(set(codes))
    assert len({entry.name for entry in catalogue()}) == len(codes)
    assert len({entry.title for entry in catalogue()}) == len(codes)


def test_an_entry_is_found_by_code_and_by_name_in_any_case() -> None:
    assert (
        find("rc301")
        is find("RC301")
        is find("unseeded-weights")
        is find("Unseeded_Weights")
        is entry("RC301")
    )
    assert find("RC000") is None and find("") is None
    with pytest.raises(KeyError):
        entry("RC000")


def test_the_nearest_names_are_offered() -> None:
    assert nearest("unseeded-weight")[0] == "unseeded-weights"
    assert "hash-order" in nearest("hash")
    assert all(find(name) for name in nearest("RC30"))
    assert nearest("qqqqqq") == ()


def test_a_fix_is_that_of_the_framework() -> None:
    weights = entry("unseeded-weights")
    assert "mindspore.set_seed" in weights.fix_for(["mindspore"])
    assert "keras.utils.set_random_seed" in weights.fix_for(["tensorflow", "keras"])
    assert "torch.manual_seed" in weights.fix_for(["torch"]) and weights.fix_for([]) == weights.fix


def test_python_examples_run_as_they_stand() -> None:
    """What needs neither a framework, an accelerator nor another package."""
    done = 0
    for one in catalogue():
        for text in (one.bad, one.good):
            if language(text) == "python" and not NEEDS_MORE.search(text):
                exec(compile(text, one.code, "exec"), {})
                done += 1
    assert done >= 10


@pytest.mark.torch
def test_torch_examples_run_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those for the CPU; the ones of deterministic mode raise without the fix and pass with it."""
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    done = 0
    try:
        for one in catalogue():
            for text in (one.bad, one.good):
                if not re.search(r"^import torch|^from torch", text, re.M) or re.search(
                    r"cuda|compile|sdpa|torch_npu", text
                ):
                    continue
                torch.use_deterministic_algorithms(False)
                if one.name == "no-deterministic-kernel" and text == one.bad:
                    with pytest.raises(
                        RuntimeError, match="does not have a deterministic implementation"
                    ):
                        exec(compile(text, one.code, "exec"), {})
                elif one.name == "partial-checkpoint" or "num_workers" not in text:
                    exec(compile(text, one.code, "exec"), {})
                done += 1
    finally:
        torch.use_deterministic_algorithms(False)
        (
            torch.backends.cudnn.benchmark,
            torch.backends.cudnn.deterministic,
            torch.backends.cudnn.enabled,
        ) = False, False, True
    assert done >= 20


# ---------------------------------------------------------------------------------------- operators


def test_operators_are_complete() -> None:
    for source, operators in operator_lists():
        assert source.name and source.source and source.version and source.frameworks
        assert operators
        for operator in operators:
            assert (
                operator.aliases
                and operator.when
                and operator.phase in ("forward", "backward", "both")
            )
            assert set(operator.devices) <= DEVICES - {"any"}


def test_the_ascend_list_holds_each_operator_of_its_source() -> None:
    names = {
        name
        for source, operators in operator_lists()
        if "Ascend" in source.name
        for one in operators
        for name in one.name.split(", ")
    }
    assert names == {
        *(
            "DynamicGRUV2",
            "DynamicRNN",
            "LayerNorm",
            "NLLLoss",
            "BNTrainingReduce",
            "BNTrainingReduceGrad",
            "Conv2DBackFilter",
        ),
        *(
            "Conv3DBackFilter",
            "HcomAllreduce",
            "MaxPool3dGrad",
            "ReduceAllD",
            "ReduceAnyD",
            "ReduceMaxD",
            "ReduceMeanD",
            "ReduceMinD",
        ),
        *(
            "ReduceProdD",
            "ReduceSum",
            "ReduceSumD",
            "RoiAlignGrad",
            "SquareSum",
            "StridedSliceGrad",
        ),
    }


@pytest.mark.torch
def test_the_torch_list_is_that_of_the_installed_documentation() -> None:
    torch = pytest.importorskip("torch")
    source, operators = next(one for one in operator_lists() if one[0].frameworks == ("torch",))
    if not torch.__version__.startswith(source.version):
        pytest.skip(f"the list is that of {source.version}")
    text = torch.use_deterministic_algorithms.__doc__
    switching, _, raising = text.partition("operations will throw a")
    for part, mode in ((switching, "switches"), (raising.partition("In addition")[0], "raises")):
        documented = sorted(re.findall(r"^ +\* :(?:class|func):`([\w.]+)`", part, re.M))
        assert documented == sorted(
            operator.name for operator in operators if operator.deterministic_mode == mode
        )


@pytest.mark.parametrize(
    "spelling",
    ["IndexBackward0", "aten.index.Tensor", "aten::index_put_", "aten._index_put_impl_.default"],
)
def test_an_operator_is_known_by_its_spellings(spelling: str) -> None:
    assert any(
        operator.name == "torch.Tensor.__getitem__" for operator in known(spelling, backward=True)
    )


def test_a_list_counts_on_its_devices_in_its_pass_and_for_its_frameworks_only() -> None:
    assert known("UpsampleBilinear2DBackward0", device="cuda:0") and not known(
        "UpsampleBilinear2DBackward0", device="cpu"
    )
    assert known("interpolate", device="cuda", backward=True) and not known(
        "interpolate", device="cuda", backward=False
    )
    assert known("LayerNorm", device="npu", frameworks=["torch"]) and not known(
        "LayerNorm", device="cuda", frameworks=["torch"]
    )
    assert {
        operator.list.frameworks
        for operator in known("Bincount", device="cuda", frameworks=["torch"])
    } == {("torch",)}
    assert known("Linear", device="cuda") == ()


def test_names_in_error_messages_are_known() -> None:
    for name in (
        "max_unpooling2d_forward_out",
        "put_",
        "cumsum_cuda_kernel",
        "grid_sampler_2d_backward_cuda",
        "upsample_bilinear2d_backward_out_cuda",
    ):
        assert raised(name), name
    assert "2.13.0" in raised("put_")[0].list.version


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bad = ", "worse = ", "the entry RC101 has no field bad."),
        ("code = .*", "", "the entry number 1 has no field code."),
        ("name = ", "severty = 1\nname = ", "the entry RC101 has a field severty, which no entry"),
        ("rung = .*", 'rung = "file"', "the entry RC101 has 'file' as its rung. It is one of: env"),
        ("title = .*", "title = 1", "the entry RC101 has a field title that is no text."),
        ("frameworks = .*", 'frameworks = "any"', "the entry RC101 has a field frameworks that is"),
    ],
)
def test_an_entry_with_a_wrong_field_is_named_with_its_file(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    text = (ENTRIES / "1_files.toml").read_text().partition("[[entry]]\n")[2]
    changed = tmp_path / "1_files.toml"
    first = re.sub(f"(?m)^{old}", new, text.partition("[[entry]]")[0])
    changed.write_text(f"[[entry]]\n{first}")
    with pytest.raises(ReprocheckError) as caught:
        list(entries_of(changed))
    assert caught.value.message.startswith(f"1_files.toml: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[entry]]\ncode = RC101", "1_files.toml is no TOML: "),
        ("[[entries]]\n", "1_files.toml has entries at its top."),
    ],
)
def test_a_file_that_is_no_table_of_entries_is_named(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "1_files.toml"
    file.write_text(text)
    with pytest.raises(ReprocheckError) as caught:
        list(entries_of(file))
    assert caught.value.message.startswith(message)
