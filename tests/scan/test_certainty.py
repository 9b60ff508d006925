"""The severity of a finding in a folder says what its program shows of a training that comes to
it; a file that is named itself keeps the severity of the rule.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.scan import scan

LOOP = """\
import random

import torch

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
MORE
for step, row in enumerate(rows):
    net(row).sum().backward()
    optimizer.step()
    IN_LOOP
"""
ONCE = "import torch\nnet = torch.nn.Linear(2, 1)\nnet(torch.ones(2)).backward()\n"
INDEX = "def pick():\n    return rows[random.randrange(9)]\nrows = DataLoader(pick())"
PREDICTED = "def predict(row):\n    return row + random.random()\nrows = [predict(torch.ones(2))]"
WORDS = """\
number = {word: place for place, word in enumerate(set(text.split()))}
rows = torch.tensor([number[word] for word in text.split()])"""
ENVIRONMENT = "import gym\nenv = gym.make('x')\nrows = env.reset()"


def written(folder: Path, path: str, text: str) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def severities(path: Path, code: str) -> list[str]:
    return [one.severity for one in scan([path], jobs=1).findings if one.code == code]


def program(more: str = "", in_loop: str = "pass") -> str:
    return LOOP.replace("MORE", more).replace("IN_LOOP", in_loop)


@pytest.mark.parametrize(
    ("path", "text", "wanted"),
    [
        ("train.py", program(), "error"),
        ("train.py", ONCE, "note"),
        ("train.py", f"{ONCE}torch.optim.SGD(net.parameters(), 0.1).step()", "warning"),
        ("third_party/train.py", program(), "note"),
        ("train.py", program("net.load_state_dict(torch.load('x'), strict=False)"), None),
        ("train.py", program("if args.half:\n    net.load_state_dict(given)"), "note"),
        ("train.py", program("if args.resume:\n    net.load_state_dict(given)"), "error"),
        ("evaluate.py", program(), "error"),
    ],
)
def test_an_error_needs_a_training_that_takes_the_weights(
    path: str, text: str, wanted: str | None, tmp_path: Path
) -> None:
    written(tmp_path, path, text)
    assert severities(tmp_path, "RC301") == [wanted] * (wanted is not None)


def test_a_file_that_is_named_itself_keeps_the_severity_of_the_rule(tmp_path: Path) -> None:
    assert severities(written(tmp_path, "third_party/train.py", ONCE), "RC301") == ["error"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (program(in_loop="row + random.random()"), "warning"),
        (program(in_loop="if step % 9 == 0:\n        x = random.random()"), "note"),
        (program("x = random.random()"), "note"),
        (program("rows = torch.ones(3) * random.random()"), "warning"),
        (program(INDEX), "warning"),
        (program(PREDICTED), "note"),
    ],
)
def test_a_warning_of_a_number_needs_that_it_goes_into_the_training(
    text: str, wanted: str, tmp_path: Path
) -> None:
    written(tmp_path, "train.py", text)
    assert severities(tmp_path, "RC406") == [wanted]


def test_a_set_whose_order_reaches_no_training_is_worth_a_note(tmp_path: Path) -> None:
    written(tmp_path, "train.py", "text = open('x').read()\n" + program(WORDS))
    assert severities(tmp_path, "RC505") == ["warning"]
    written(
        tmp_path,
        "train.py",
        f"text = open('x').read()\n{program(WORDS)}".replace("rows =", "sizes ="),
    )
    assert severities(tmp_path, "RC505") == ["note"]


def test_an_environment_that_is_seeded_somewhere_is_no_error(tmp_path: Path) -> None:
    written(tmp_path, "train.py", program(ENVIRONMENT))
    assert severities(tmp_path, "RC407") == ["error"]
    seeded = f"{ENVIRONMENT}\ndef other(env):\n    env.seed(1)"
    written(tmp_path, "train.py", program(seeded))
    assert severities(tmp_path, "RC407") == ["warning"]


FILES = """\
import glob

import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self):
        names = glob.glob("*.pt")TAKEN
        self.rows = [name for name in names]

    def __getitem__(self, index):
        return self.rows[index]


"""


def test_one_file_that_is_taken_by_its_position_is_worth_a_note(tmp_path: Path) -> None:
    for taken, wanted in (("", "warning"), ("[0]", "note")):
        text = FILES.replace("TAKEN", taken) + program("rows = Rows()")
        written(tmp_path, "train.py", text)
        assert severities(tmp_path, "RC104") == [wanted]


FITTED = "import random\nimport sklearn.cluster\nsklearn.cluster.KMeans().fit([random.random()])\n"


def test_an_evaluation_that_fits_a_classifier_trains_no_net(tmp_path: Path) -> None:
    train = written(tmp_path, "train.py", FITTED)
    assert set(severities(tmp_path, "RC406")) == {"warning"}
    train.rename(tmp_path / "evaluation_of_rows.py")
    assert set(severities(tmp_path, "RC406")) == {"note"}


STARRED = """\
import random
import torch
from parts.common import *

set_seed(3)
rows = list(range(9))
random.shuffle(rows)
for row in rows:
    loss(row).backward()
    optimizer.step()
"""


def test_a_name_that_a_star_brings_may_seed(tmp_path: Path) -> None:
    train = written(tmp_path, "train.py", STARRED)
    assert severities(tmp_path, "RC501") == []
    train.write_text(STARRED.replace("set_seed", "set_size"))
    assert severities(tmp_path, "RC501") == ["error"]


OWN_TRAINER = """\
import random

import transformers


class Ours(BASE):
    def compute_loss(self, net, rows):
        return net(rows)


trainer = Ours(net)
for row in range(9):
    loss(row + random.random()).backward()
    optimizer.step()
"""


def test_a_trainer_of_transformers_seeds_in_a_class_of_the_users_too(tmp_path: Path) -> None:
    train = written(tmp_path, "train.py", OWN_TRAINER.replace("BASE", "transformers.Trainer"))
    assert severities(tmp_path, "RC406") == []
    train.write_text(OWN_TRAINER.replace("BASE", "object"))
    assert severities(tmp_path, "RC406") == ["warning"]


def test_imports_are_found_from_the_folder_that_holds_the_read_me(tmp_path: Path) -> None:
    written(tmp_path, "README.md", "")
    written(tmp_path, "parts/common.py", "import random\ndef prepare():\n    random.seed(3)\n")
    begin = "import random\nimport torch\nfrom parts.common import prepare\nprepare()\n"
    written(tmp_path, "tasks/train.py", begin + STARRED[STARRED.index("rows =") :])
    assert severities(tmp_path, "RC501") == []


TIMED = "import torch\ntorch.backends.cudnn.benchmark = True\n"


def test_a_training_without_a_convolution_is_timed_for_nothing(tmp_path: Path) -> None:
    train = written(tmp_path, "train.py", TIMED + program())
    assert severities(tmp_path, "RC706") == ["note"]
    train.write_text(TIMED + program("other = torch.nn.Conv2d(1, 1, 1)"))
    assert severities(tmp_path, "RC706") == ["warning"]


def test_gradients_that_nothing_takes_are_no_training(tmp_path: Path) -> None:
    text = program(in_loop="row + random.random()")
    train = written(tmp_path, "train.py", text)
    assert severities(tmp_path, "RC406") == ["warning"]
    measured = text.replace("    optimizer.step()\n", "")
    train.write_text(measured.replace("optimizer = torch.optim.SGD(net.parameters(), 0.1)\n", ""))
    assert severities(tmp_path, "RC406") == ["note"]


def test_a_branch_for_what_is_no_evaluation_is_a_part_of_the_training(tmp_path: Path) -> None:
    train = written(tmp_path, "train.py", program(in_loop="if args.test: row + random.random()"))
    assert severities(tmp_path, "RC406") == ["note"]
    train.write_text(train.read_text().replace("if args.test", "if not args.test"))
    assert severities(tmp_path, "RC406") == ["warning"]


def test_a_module_that_no_training_imports_is_worth_notes_alone(tmp_path: Path) -> None:
    written(tmp_path, "shared.py", "SIZE = 3\n")
    written(tmp_path, "parts.py", f"import shared\n{FILES.replace('TAKEN', '')}")
    trains = f"import shared\n{program('kept(Rows)')}"
    train = written(tmp_path, "train.py", f"import parts\n{trains}")
    assert severities(tmp_path, "RC104") == ["warning"]
    train.write_text(trains)
    assert severities(tmp_path, "RC104") == ["note"]
    train.write_text(f"import importlib\nimportlib.import_module(given)\n{trains}")
    assert severities(tmp_path, "RC104") == ["warning"]


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ("print(random.random())", []),
        ("logger.info('%s', random.random())", []),
        ("name = f'run-{random.random()}'\n    writer = open(name, 'w')", []),
        ("shift = random.random()\n    print(shift)\n    net(row + shift).backward()", ["warning"]),
    ],
)
def test_a_number_that_is_only_told_or_names_something_is_no_finding(
    more: str, wanted: list[str], tmp_path: Path
) -> None:
    written(tmp_path, "train.py", program(in_loop=more))
    assert severities(tmp_path, "RC406") == wanted


def test_a_file_whose_number_is_the_largest_is_found_in_any_order(tmp_path: Path) -> None:
    numbers = "numbers = list(map(int, os.listdir('runs'))) + [-1]"
    for taken, wanted in (("max(numbers)", "note"), ("numbers", "warning")):
        text = f"import os\n{numbers}\nrows = DataLoader({taken})"
        written(tmp_path, "train.py", program(text))
        assert severities(tmp_path, "RC104") == [wanted]


def test_an_environment_that_is_seeded_beside_its_making_is_worth_a_note(tmp_path: Path) -> None:
    made = "import gym\nclass Game:\n    def __init__(self):\n        self.env = gym.make('x')\n"
    seeded = "        self.unwrapped.seed(0)\n"
    used = "        self.rows = self.env.reset()\nrows = Game().rows"
    for lines, wanted in (("", ["error"]), (seeded, ["note"])):
        written(tmp_path, "train.py", program(f"{made}{lines}{used}"))
        assert severities(tmp_path, "RC407") == wanted


AGAIN = """\
for name, weight in net.named_parameters():
    if QUESTION:
        weight.data.normal_()
    else:
        weight.data.zero_()"""


def test_weights_that_a_loop_draws_again_are_worth_a_note(tmp_path: Path) -> None:
    for question, wanted in (("'weight' in name", "note"), ("weight.dim() > 1", "error")):
        written(tmp_path, "train.py", program(AGAIN.replace("QUESTION", question)))
        assert severities(tmp_path, "RC301") == [wanted]


NUMBERED = """\
words = list(set(open("x").read().split()))
number = {"[PAD]": 0}
for place, word in enumerate(words):
    number[word] = place + 1
table = torch.nn.Embedding(len(number), 3)
optimizer = torch.optim.SGD(table.parameters(), 0.1)"""


def test_a_vocabulary_whose_size_goes_into_a_layer_is_a_warning(tmp_path: Path) -> None:
    written(tmp_path, "train.py", program(NUMBERED))
    assert severities(tmp_path, "RC505") == ["warning"]


MADE = """\
def make():
    return torch.nn.Linear(2, 1), 3
net, size = make()
METHOD(net)"""


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        ("torch.optim.SGD", "error"),
        ("parts.make_optimizer", "error"),
        ("[].append", "note"),
        ("print", "note"),
    ],
)
def test_an_error_about_weights_needs_an_optimizer_that_takes_them(
    method: str, wanted: str, tmp_path: Path
) -> None:
    own = "optimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
    text = program(MADE.replace("METHOD", method)).replace(own, "optimizer = given\n")
    written(tmp_path, "train.py", text.replace("net = torch.nn.Linear(2, 1)\n", ""))
    assert severities(tmp_path, "RC301") == [wanted]


KERAS = """\
import keras
net = keras.Sequential()
net.add(keras.layers.Dense(1))
net.compile("adam", "mse")
net.fit(rows, labels)
"""


def test_what_a_layer_is_put_into_comes_to_the_optimizer(tmp_path: Path) -> None:
    train = written(tmp_path, "train.py", KERAS)
    assert severities(tmp_path, "RC301") == ["error"]
    train.write_text(KERAS.replace(".add(", ".look("))
    assert severities(tmp_path, "RC301") == ["note"]


SEEDED_LATE = program().replace("optimizer =", "torch.manual_seed(3)\noptimizer =")


def test_a_seed_that_comes_too_late_is_a_warning(tmp_path: Path) -> None:
    train = written(tmp_path, "train.py", SEEDED_LATE)
    assert severities(tmp_path, "RC302") == ["warning"]
    assert severities(train, "RC302") == ["error"]


DROPPED = "drop = torch.nn.Dropout(0.5)"


def test_a_layer_is_an_error_where_the_program_has_no_word_of_seeds(tmp_path: Path) -> None:
    in_loop = "net(drop(row)).sum().backward()"
    plain = program(DROPPED, in_loop)
    for text, wanted in ((plain, "error"), (f"# a seed is set elsewhere\n{plain}", "warning")):
        written(tmp_path, "train.py", text)
        assert severities(tmp_path, "RC401") == [wanted]


BEFORE_LOOP = """\
def train(rows):
    shift = random.random()
    for row in rows:
        if shift > 0.5:
            row = row + 1
        net(row).sum().backward()
train(rows)"""


def test_a_number_beside_the_loop_is_a_note_where_the_program_seeds(tmp_path: Path) -> None:
    for seeds, wanted in (("", "warning"), ("import torch\ntorch.manual_seed(3)\n", "note")):
        written(tmp_path, "train.py", seeds + program(BEFORE_LOOP))
        assert severities(tmp_path, "RC406") == [wanted]


INITIALISED = """\
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
    def forward(self, x):
        return self.layer(x)
def initialize(m):
    if isinstance(m, torch.nn.KIND):
        torch.nn.init.normal_(m.weight)
        FILL
net = Net()
net.apply(initialize)"""


@pytest.mark.parametrize(
    ("kind", "fill", "line"),
    [
        ("Linear", "torch.nn.init.zeros_(m.bias)", 10),
        ("Linear", "m.bias.data.zero_()", 10),
        ("Linear", "pass", 5),  # the bias is drawn where the layer is made
        ("Conv2d", "torch.nn.init.zeros_(m.bias)", 5),
    ],
)
def test_weights_that_a_function_draws_again_are_found_there(
    kind: str, fill: str, line: int, tmp_path: Path
) -> None:
    made = INITIALISED.replace("KIND", kind).replace("FILL", fill)
    text = program().replace("import torch\n\nnet = torch.nn.Linear(2, 1)", made)
    written(tmp_path, "train.py", text.replace("import random\n\n", ""))
    (found,) = (one for one in scan([tmp_path], jobs=1).findings if one.code == "RC301")
    assert (found.line, found.severity) == (line, "error")


FITS = (
    "import sklearn.decomposition\nfor rows in given:\n    sklearn.decomposition.PCA().fit(rows)\n"
)


def test_a_program_that_fits_classifiers_alone_times_no_training(tmp_path: Path) -> None:
    net = "net = torch.nn.Conv2d(1, 1, 1)\n"
    train = written(tmp_path, "train.py", TIMED + net + FITS)
    assert severities(tmp_path, "RC706") == ["note"]
    train.write_text(TIMED + net + FITS + program("other = net"))
    assert severities(tmp_path, "RC706") == ["warning"]


CHOSEN = """\
unused = [torch.nn.Linear(2, 1)]
for layer in made(unused):
    print(layer)"""


def test_of_all_weights_those_that_an_optimizer_takes_are_named(tmp_path: Path) -> None:
    text = program().replace(
        "net = torch.nn.Linear(2, 1)", f"{CHOSEN}\nnet = torch.nn.Linear(2, 1)"
    )
    written(tmp_path, "train.py", text)
    (found,) = (one for one in scan([tmp_path], jobs=1).findings if one.code == "RC301")
    assert (found.line, found.severity) == (8, "error")


RESUMED = """\
if args.resume:
    net = torch.nn.Linear(2, 1)
    net.load_state_dict(given)
else:
    net = torch.nn.Linear(2, 1)"""


def test_weights_of_a_branch_that_goes_on_from_a_checkpoint_are_not_the_ones(
    tmp_path: Path,
) -> None:
    text = program().replace("net = torch.nn.Linear(2, 1)", RESUMED)
    written(tmp_path, "train.py", text)
    (found,) = (one for one in scan([tmp_path], jobs=1).findings if one.code == "RC301")
    assert (found.line, found.severity) == (9, "error")


def test_a_layer_that_resets_itself_draws_there(tmp_path: Path) -> None:
    reset = "net = torch.nn.Linear(2, 1)\nnet.reset_parameters()"
    written(tmp_path, "train.py", program().replace("net = torch.nn.Linear(2, 1)", reset))
    (found,) = (one for one in scan([tmp_path], jobs=1).findings if one.code == "RC301")
    assert (found.line, found.severity) == (6, "error")


def test_a_library_that_seeds_all_generators_may_seed(tmp_path: Path) -> None:
    train = written(tmp_path, "train.py", f"import delu\ndelu.random.seed(0)\n{program()}")
    assert severities(tmp_path, "RC301") == []
    train.write_text(f"import delu\ndelu.random.sort(0)\n{program()}")
    assert severities(tmp_path, "RC301") == ["error"]


def test_a_branch_that_only_tests_times_no_training(tmp_path: Path) -> None:
    timed = TIMED.replace("torch.backends", "if args.testOnly:\n    torch.backends")
    train = written(tmp_path, "train.py", timed + program("other = torch.nn.Conv2d(1, 1, 1)"))
    assert severities(tmp_path, "RC706") == ["note"]
    train.write_text(train.read_text().replace("testOnly", "quickly"))
    assert severities(tmp_path, "RC706") == ["warning"]


SHUFFLED = "rows = torch.utils.data.DataLoader(given, shuffle=True)\n"


def test_an_order_that_nothing_takes_is_worth_a_note(tmp_path: Path) -> None:
    for name, wanted in (("rows", ["error"]), ("others", ["note"])):
        written(tmp_path, "train.py", program(SHUFFLED.replace("rows", name)))
        assert severities(tmp_path, "RC501") == wanted


UNFILLED = """\
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.empty(3))

    def forward(self, rows):
        return rows * self.scale


scaled = Scaled()
rows = scaled(torch.ones(3))
"""


@pytest.mark.parametrize(
    ("taken", "wanted"), [("scaled.parameters()", "warning"), ("given", "note")]
)
def test_unfilled_memory_is_a_warning_where_an_optimizer_takes_it(
    taken: str, wanted: str, tmp_path: Path
) -> None:
    written(tmp_path, "train.py", program(f"{UNFILLED}torch.optim.SGD({taken}, 0.1)"))
    assert severities(tmp_path, "RC303") == [wanted]


def test_a_file_of_settings_that_says_what_is_called_may_seed(tmp_path: Path) -> None:
    own = "import hyperpyyaml\n\nhparams = hyperpyyaml.CALL(open('train.yaml'))\n"
    train = written(tmp_path, "train.py", own.replace("CALL", "load_hyperpyyaml") + program())
    assert severities(tmp_path, "RC301") == []
    train.write_text(own.replace("CALL", "dump_hyperpyyaml") + program())
    assert severities(tmp_path, "RC301") == ["error"]


def test_a_seeding_call_that_switches_the_benchmark_off_settles_it(tmp_path: Path) -> None:
    net = "other = torch.nn.Conv2d(1, 1, 1)"
    later = f"import monai\nmonai.utils.set_determinism(0)\n{net}"
    train = written(tmp_path, "train.py", TIMED + program(later))
    assert severities(tmp_path, "RC706") == []
    train.write_text(f"import monai\nmonai.utils.set_determinism(0)\n{TIMED}{program(net)}")
    assert severities(tmp_path, "RC706") == ["warning"]


ASKED = """\
import time
import numpy
def noise(seed=None):
    if ASKED:
        numpy.random.seed(int(time.time()))
    return numpy.random.rand()
"""


@pytest.mark.parametrize(("asked", "wanted"), [("seed is None", "note"), ("True", "warning")])
def test_a_seed_for_callers_that_pass_none_is_worth_a_note(
    asked: str, wanted: str, tmp_path: Path
) -> None:
    written(tmp_path, "noise.py", ASKED.replace("ASKED", asked))
    written(tmp_path, "train.py", f"import noise\n{program('use(noise)')}")
    assert severities(tmp_path, "RC402") == [wanted]


@pytest.mark.parametrize(("folder", "wanted"), [("train", "warning"), ("val", "note")])
def test_files_of_a_test_are_worth_a_note(folder: str, wanted: str, tmp_path: Path) -> None:
    listed = f"import glob\nrows = DataLoader(list(glob.glob('{folder}/*.pt')))"
    written(tmp_path, "train.py", program(listed))
    assert severities(tmp_path, "RC104") == [wanted]


EVALUATED = """\
def test_step(rows):
    return [net(row) for row in torch.utils.data.DataLoader(rows)]
def main():
    for row in rows:
        net(row).sum().backward()
        optimizer.step()
    FUNCTION(given[random.randrange(9)])
main()"""


@pytest.mark.parametrize(("function", "wanted"), [("test_step", "note"), ("first_step", "warning")])
def test_what_a_function_that_tests_takes_comes_to_no_training(
    function: str, wanted: str, tmp_path: Path
) -> None:
    more = EVALUATED.replace("test_step", function).replace(
        "FUNCTION", f"if args.evaluate:\n        {function}"
    )
    written(tmp_path, "train.py", program(more))
    assert severities(tmp_path, "RC406") == [wanted]


NAMED = """\
net = torch.nn.Linear(2, 1)
for module in net.modules():
    NAME = isinstance(module, kinds)
    if NAME:
        torch.nn.init.xavier_uniform_(module.weight)
        torch.nn.init.zeros_(module.bias)"""


@pytest.mark.parametrize(("name", "line"), [("is_linear_layer", 9), ("is_conv_layer", 5)])
def test_a_question_may_have_the_name_of_a_kind_of_layer(
    name: str, line: int, tmp_path: Path
) -> None:
    text = program().replace("net = torch.nn.Linear(2, 1)", NAMED.replace("NAME", name))
    written(tmp_path, "train.py", text)
    (found,) = (one for one in scan([tmp_path], jobs=1).findings if one.code == "RC301")
    assert found.line == line
