from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace

import pytest

from reprocheck.bundle import Bundle, made
from reprocheck.bundle.contents import LARGEST, kept
from reprocheck.model import Check
from reprocheck.model.replay import Argument, Replay, TensorArgument
from reprocheck.redaction import Redaction
from tests.report.parts import trace
from tests.report.samples import SAMPLES, series


def long(iterations: int, ranks: int) -> Check:
    """Two runs whose losses cannot be packed small."""
    check = SAMPLES["forward_fails"]()
    draw = random.Random(0)
    runs = []
    for run in check.runs:
        traces = tuple(
            trace(series([draw.random() for _ in range(iterations)], dtype="float64"), rank=rank)
            for rank in range(ranks)
        )
        runs.append(replace(run, traces=traces))
    return replace(check, runs=tuple(runs))


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return made(SAMPLES["explained"](), Redaction())


def test_the_zip_holds_the_files_sorted_and_without_a_time(bundle: Bundle) -> None:
    with zipfile.ZipFile(io.BytesIO(bundle.zipped)) as archive:
        names = archive.namelist()
        times = {entry.date_time for entry in archive.infolist()}
    assert names == ["README.md", "issue.md", "losses.csv", "report.html", "report.json"]
    assert times == {(1980, 1, 1, 0, 0, 0)}


def test_the_same_check_gives_the_same_bytes(bundle: Bundle) -> None:
    assert made(SAMPLES["explained"](), Redaction()).zipped == bundle.zipped


def test_the_manifest_says_what_is_inside(bundle: Bundle) -> None:
    said = bundle.files["README.md"].decode()
    assert "**NOT REPRODUCIBLE (forward).** In iteration 1 `encoder.blocks.0.noise`" in said
    assert "- source: these lines: `model/noise.py:14`" in said
    assert "- weights: none" in said
    assert "- log: none; `--with-log` adds its end" in said
    assert "reprocheck run --steps 2 --level op train.py --lr 0.1" in said


def test_the_page_fetches_nothing(bundle: Bundle) -> None:
    page = bundle.files["report.html"].decode()
    assert "default-src &#39;none&#39;" in page
    assert re.findall(r"""(?:src|href)=["'](?!#|data:)""", page) == []


def test_a_replay_script_is_made_of_what_leaves_or_not_at_all() -> None:
    plain = replayed("aten.mul.Tensor", ())
    assert b"aten.mul" in made(plain, Redaction()).files["replay.py"]
    assert "replay.py" in made(plain, Redaction(strict=True)).files
    with_text = replayed("aten.mul.Tensor", (("rounding_mode", "floor"),))
    assert "replay.py" in made(with_text, Redaction()).files
    assert "replay.py" not in made(with_text, Redaction(strict=True)).files
    secret = replayed("aten.mul.Tensor", (("note", "a@acme.io"),))
    assert "replay.py" not in made(secret, Redaction()).files


def test_values_of_tensors_leave_only_where_they_are_given() -> None:
    tensor = TensorArgument(shape=(2,), strides=(1,), dtype="float32", fill="floats")
    check = replayed("aten.mul.Tensor", (("self", tensor),), values=("self",))
    without = made(check, Redaction())
    assert "replay.safetensors" not in without.files
    assert "- values: none but losses and series; no tensor" in without.files["README.md"].decode()
    assert b"safetensors" not in without.files["replay.py"]
    values = random.Random(0).randbytes(LARGEST)
    with_them = made(check, Redaction(), values)
    assert with_them.files["replay.safetensors"] == values
    said = with_them.files["README.md"].decode()
    assert "- values: yes, 2,000 KB of tensors in `replay.safetensors`" in said
    assert b"safetensors" in with_them.files["replay.py"]
    assert len(with_them.files["losses.csv"]) == len(without.files["losses.csv"])


def replayed(
    name: str, arguments: tuple[tuple[str, Argument], ...], values: tuple[str, ...] = ()
) -> Check:
    """A check whose ladder names an operation that can be run alone."""
    check = SAMPLES["explained"]()
    assert check.ladder is not None
    replay = Replay(framework="torch", name=name, of="operator", arguments=arguments, values=values)
    return replace(check, ladder=replace(check.ladder, replay=replay))


def test_a_long_training_fits_and_keeps_the_iterations_that_matter() -> None:
    check = long(10_000, ranks=4)
    bundle = made(check, Redaction())
    assert len(bundle.zipped) <= LARGEST
    rows = bundle.files["losses.csv"].decode().splitlines()[1:]
    iterations = sorted({int(row.split(",")[4]) for row in rows})
    assert 40_000 < len(rows) < 66_000
    assert iterations[:1000] == list(range(1, 1001))
    assert iterations[-1] == 10_000
    assert (
        f"- losses: {len(iterations):,} iterations of 10,000" in bundle.files["README.md"].decode()
    )


@pytest.mark.parametrize("iterations, ranks", [(10, 1), (2_000, 3), (15, 900)])
def test_as_many_iterations_are_kept_as_there_is_room_for(iterations: int, ranks: int) -> None:
    check = long(iterations, ranks)
    found: Sequence[int] = kept(check, 5_000) or range(1, iterations + 1)
    values = 2 * ranks * len(found)
    assert values <= max(5_000 + 2 * ranks * 40, 2 * ranks * 30)
    assert found[0] == 1 and found[-1] == iterations


def test_no_loss_is_no_error() -> None:
    check = replace(SAMPLES["nothing"](), runs=())
    assert made(check, Redaction(strict=True)).files["losses.csv"].count(b"\n") == 1
