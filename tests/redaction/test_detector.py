from __future__ import annotations

import json
from base64 import b64encode
from urllib.parse import quote

import pytest

from reprocheck.redaction import found_scanner
from reprocheck.redaction.detector import Detector, Secret
from reprocheck.redaction.patterns import place


@pytest.mark.parametrize(
    "text",
    [
        "encoder.layers.11.self_attn.out_proj.weight",
        "TransformerEncoderLayer_2/MultiheadAttention_attention_probs_dropout",
        "aten.native_layer_norm_backward.default",
        "epoch 12 step 34000 loss 0.12345678901234567 lr 1e-04 +1.5e-3",
        "In iteration 1 `fc1` (Linear) returns another output for the same inputs.",
        "torch 2.13.0+cu126, numpy 2.4.6, 2026-05-04T10:11:12+00:00",
        "resnet50_imagenet1k_v2_fp16_bs256_seed42",
        'raise ValueError(f"{self.net} has no {name}")',
        "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
        "see https://docs.pytorch.org/docs/stable/notes/randomness.html",
        "Started twice in the same way",
        "features.3.0.block.1.0.weight, stages.0.1.0.2.conv",
        "src/Models/ResNet50/LayerNorm2Blocks/Attn/Heads8x",
        "libcudnn.so.9.1.0.70, nvidia-cublas-cu12==12.4.5.8",
        "see https://github.com/pytorch/pytorch/issues/1234 and http://localhost:6006/",
        "The generator is set by the user; user-defined, as a user would",
        "train-net.step() and file:///usr/lib/x",
        "pad 0.11.0.1, opencv-python-headless  4.10.0.84, __version__ = '4.10.0.84'",
        r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.6\bin",
        'print(f"A:\\t{x}\\n\\nB:\\n{y}") matches \\\\w+\\\\d+\\\\n',
        "client = Client(host=config.host, port=self.port); host: str = None",
        "node=aten.conv2d.default, node: ConvolutionBackward0, layer12.attn.weight:1024",
        "failed to resolve torch.ops.aten.addmm, cannot reach aten.mm.default",
        "transformers.models.llama2.modeling:123 and train.py:1200, [rank0]:1234",
        "GB83 WEST 1234 5698 7654 32 has another checksum, SM80 and DE12 are none",
        "conv2d(groups=4), (3),2(pad)",
    ],
)
def test_what_reports_say_stays_as_it_is(text: str) -> None:
    detector = Detector(scanner=found_scanner())
    assert detector.masked(text) == text
    assert not detector.counts


@pytest.mark.parametrize(
    "text, shown",
    [
        ('File "/home/anna/train.py", line 3', 'File "~/train.py", line 3'),
        ("in /srv/acme/v/lib/python3.11/site-packages/torch/nn.py", "in <python>/torch/nn.py"),
        ("reads /data/acme/train.bin twice", "reads <path>/train.bin twice"),
        ("reads /home/<user>/x/train.bin", "reads ~/x/train.bin"),
        ("call +49 30 1234567 now", "call <number> now"),
        ("card 4111 1111 1111 1111.", "card <number>."),
        ("key 0123456789abcdef0123456789abcdef", "key <secret>"),
        ("on gpu07.cluster.internal", "on <host>"),
        ("mail a.b@acme.io", "mail <email>"),
        ("at x/y/GAugOd20+G+RSORXBwdQmnba5cPy9DRAXOFDYFur/z", "at x/y/<secret>/z"),
        ("`blocks.0.4111111111111111`", "`blocks.<number>`"),
        ("`blocks.0.10.23.13.197` (Linear)", "`blocks.<address>` (Linear)"),
        ("Author: Jane Doe <j.doe@acme.io>", "Author: <name> <<email>>"),
        ('login failed for user "falcon"', 'login failed for user "<user>"'),
        ('{"username": "jdoe", "pw": "hunter2"}', '{"username": "<user>", "pw": "<secret>"}'),
        ("Currently logged in as: jdoe (falcon).", "Currently logged in as: <user>."),
        ("uid=1004(jdoe)", "uid=1004(<user>)"),
        ("Cookie: session=abc123def456; csrf=x", "Cookie: <secret>"),
        ("scp jdoe@gpu-17:/data/falcon/x.pt .", "scp <email>:<path> ."),
        ("clone git@gitlab.acme.io:falcon/train.git", "clone <email>:<path>"),
        ("reads s3://acme-falcon/raw/train.tar", "reads s3://<path>/train.tar"),
        ("t.py '-ps3://acme-falcon/raw/train.tar'", "t.py '-ps3://<path>/train.tar'"),
        ("https://tracker.acme.io/falcon/runs/3k2j", "https://<host>/<path>"),
        ("http://mlflow:5000/falcon", "http://<host>:5000/<path>"),
        ("at https://github.com/acme/falcon.git", "at https://github.com/<path>"),
        ("on gpu-node-0042.cluster", "on <host>"),
        (r"'Pool(host=\'node-18\', port=443)'", r"'Pool(host=\'<host>\', port=443)'"),
        ("metric/10.23.13.197 on ip-10-23-13-197", "metric/<address> on <address>"),
        (r'File "C:\Users\jdoe\falcon\train.py", line 3', r'File "~\falcon\train.py", line 3'),
        (r"'C:\\Users\\Jane Doe\\train.py'", r"'~\\train.py'"),
        (r"c:/users/jdoe and D:\acme\raw\train.bin", r"~ and <path>\train.bin"),
        (r"\\files01\acme\jdoe\last.pt", r"<path>\last.pt"),
        (
            r"C:\Users\jdoe\v\Lib\site-packages\torch\nn.py",
            r"<python>\torch\nn.py",
        ),
        ("IBAN DE89 3704 0044 0532 0130 00, GB82WEST12345698765432", "IBAN <number>, <number>"),
        (
            "uid=1004(jdoe) gid=1004(jdoe) groups=1004(jdoe),27(falcon)",
            "uid=1004(<user>) gid=1004(<user>) groups=1004(<user>),27(<user>)",
        ),
        ("on node-17.hpc.acme.example now", "on <host> now"),
        ("Pool(host='tracker', port=443): Max", "Pool(host='<host>', port=443): Max"),
        ("connect to host gpu07 port 22: No route", "connect to host <host> port 22: No route"),
        ('translate host name "db.acme" to address', 'translate host name "<host>" to address'),
        ("connect to [node-17]:29500 (errno: 111)", "connect to [<host>]:29500 (errno: 111)"),
        ("resolve 'db.acme.io' ([Errno -2] Name", "resolve '<host>' ([Errno -2] Name"),
        ("node-17:4242:4301 [0] NCCL INFO", "<host>:4242:4301 [0] NCCL INFO"),
        ("srun: error: node-17: task 0: Exited", "srun: error: <host>: task 0: Exited"),
        ("*** STEP 12.0 ON node-17 CANCELLED", "*** STEP 12.0 ON <host> CANCELLED"),
        (
            "MASTER_ADDR=node-17 SLURM_NODELIST=gpu[01-04]",
            "MASTER_ADDR=<host> SLURM_NODELIST=<host>",
        ),
    ],
)
def test_what_says_who_and_where_is_masked(text: str, shown: str) -> None:
    assert Detector().masked(text) == shown


def test_a_path_in_the_folder_of_the_training_is_relative_to_it() -> None:
    detector = Detector(folders=["/srv/acme/falcon", "~/falcon"])
    lines = (
        'File "/srv/acme/falcon/src/net.py", ~/falcon/train.py and /srv/acme/falcon2/x.py, in'
        " /mnt/srv/acme/falcon/y.py"
    )
    assert detector.masked(lines) == ('File "src/net.py", train.py and <path>/x.py, in <path>/y.py')
    assert detector.counts == {"folder of the machine": 4}


def test_each_find_is_counted_by_its_kind() -> None:
    detector = Detector(("/home/anna", "anna", "gpu07"), known=["resnet-Big", "big"])
    assert detector.masked("anna ran resnet-Big on gpu07, a big one") == (
        "<user> ran <argument> on <host>, a big one"
    )
    detector.masked("a@acme.io b@acme.io")
    assert detector.counts == {
        "user name": 1,
        "host name": 1,
        "value of an argument or a variable": 1,
        "e-mail address": 2,
    }


def test_a_short_value_is_taken_out_where_a_sentence_names_it() -> None:
    said = Detector(known=["anna"]).masked("The argument `--user` is `anna`: anna_net.fit()")
    assert said == "The argument `--user` is `<argument>`: anna_net.fit()"


def test_a_value_is_taken_out_however_it_is_written() -> None:
    value = 'hunter2 "ä"\\'
    written = (repr(value), json.dumps(value), quote(value), b64encode(value.encode()).decode())
    for one in written:
        assert "<argument>" in Detector(known=[value]).masked(f"got {one} here"), one


def test_a_value_within_a_private_key_does_not_hide_where_it_ends() -> None:
    key = "-----BEGIN PRIVATE KEY-----\\nMIIEvQ=\\n-----END PRIVATE KEY-----"
    said = Detector(known=["\\n-----END PRIVATE KEY-----"]).masked(f"it is `{key}` here")
    assert "MIIEvQ" not in said and said.endswith("` here")


def test_a_word_that_is_a_secret_is_no_part_of_another_word() -> None:
    def scanner(text: str) -> list[Secret]:
        return [Secret(kind="password", text="postgres")]

    shown = Detector(scanner=scanner).masked("postgresql://h, password postgres")
    assert shown == "postgresql://h, password <secret>"


def test_a_number_that_is_no_card_stays() -> None:
    assert Detector().masked("4111111111111112 tokens") == "4111111111111112 tokens"


def test_a_path_of_the_project_stays() -> None:
    assert place("conf/a.yaml") == "conf/a.yaml"
    assert place("../secret/a.yaml") == "<path>/a.yaml"
