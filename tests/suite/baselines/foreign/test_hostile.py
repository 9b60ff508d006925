"""Files of other programs that somebody has made to do harm: an error, and soon."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from reprocheck.suite.baselines.errors import BaselineError
from reprocheck.suite.baselines.foreign import formats
from reprocheck.suite.baselines.foreign.read import FORMATS, read
from tests.recording.fuzz.test_readers import often, scratch

LINES = "\n" * 5_000
FILES = {
    "nested arrays": '{"a": {"values": ' + "[" * 100_000,
    "nested objects": '{"values": ' + '{"a": ' * 100_000,
    "empty lines": f"{LINES}x",
    "a long comment": "#" * 100_000,
    "blanks": " " * 100_000,
    "many columns": "step," + ",".join(f"c{number}" for number in range(1_000)) + "\n",
    "an integer too large": '{"l": {"start_step": 1, "step_interval": '
    + "9" * 500
    + ', "values": [1, 2]}}',
    "one name twice": "# step loss loss\n1 2 3\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_made_to_do_harm_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "curves"
    file.write_text(FILES[name])
    with pytest.raises(BaselineError) as caught:
        read(file)
    assert len(caught.value.message) < 500 + len(str(file))


def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path,
) -> None:
    file = tmp_path / "curves"
    with file.open("wb") as sparse:
        sparse.truncate(4 << 30)
    with pytest.raises(BaselineError, match="MiB"):
        read(file)


TEXTS = st.text(alphabet='{}[]",:#0123456789.eE+-xnainf \t\n\r\0lossteprunkby=', max_size=200)


@given(TEXTS, st.sampled_from((None, *FORMATS)), st.sampled_from(("", "step,loss\n", "# step")))
@often
def test_any_text_is_read_or_refused(text: str, format: str | None, before: str) -> None:
    with scratch() as folder:
        file = folder / "curves"
        file.write_text(before + text)
        try:
            read(file, format)
        except BaselineError as error:
            assert error.fix


def test_names_marked_for_spreadsheets_come_back_as_they_were() -> None:
    head = "run,rank,series,by,iteration,index,step,value,dtype\n"
    (points,) = formats.read_csv(f"{head}1,0,'=1+1,'@by,1,0,1,0.5,float32\n")
    assert (points.name, points.by) == ("=1+1", "@by")
    assert struct.pack("<d", points.values[0]) == struct.pack("<d", 0.5)
