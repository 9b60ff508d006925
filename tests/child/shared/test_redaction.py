"""Secrets and addresses are masked, and what only looks a little like them is not."""

from __future__ import annotations

import ast

import pytest

from reprocheck.child.reprocheck_child.shared.masking import may_hold_secret
from reprocheck.child.reprocheck_child.shared.redaction import (
    Redactor,
    is_secret_name,
    known_secrets,
)
from reprocheck.child.reprocheck_child.shared.variables import shown

HF = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
AWS = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
KEY = """-----BEGIN PRIVATE KEY-----
MIIEowIBAAKCAQEA04up8hoqzS1+APIB0RhjXyObwHQnOzhAk5Bd7mhkSbPkyhP1
iWlX9HNavcydATJc1f0=
-----END PRIVATE KEY-----
"""


MASKED = [
    ("password=hunter2 next", "password=<secret> next"),
    (
        "{'db_password': 'a b', \"api_key\": \"k\"}",
        "{'db_password': '<secret>', \"api_key\": \"<secret>\"}",
    ),
    (f"Namespace(hf_token='{HF}', lr=0.1)", "Namespace(hf_token='<secret>', lr=0.1)"),
    (f"logged in with {HF}.", "logged in with <secret>."),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "<secret>"),
    (f"AKIAIOSFODNN7EXAMPLE {AWS}", "<secret> <secret>"),
    (f"Authorization: Bearer {JWT}", "Authorization: Bearer <secret>"),
    ("Bearer abcdef0123456789", "Bearer <secret>"),
    (
        "https://b/x?X-Amz-Signature=fe5f80f77d5fa3beca038a248ff027d0&n=1",
        "https://b/x?X-Amz-Signature=<secret>&n=1",
    ),
    (
        "+ python train.py --hf-token abc --lr 0.1",
        "+ python train.py --hf-token <secret> --lr 0.1",
    ),
    ("['--hf-token', 'abc', '--lr', '1']", "['--hf-token', '<secret>', '--lr', '1']"),
    (
        "wandb.login(key='0123456789abcdef0123456789abcdef01234567')",
        "wandb.login(key='<secret>')",
    ),
    ("from anna@example.org, 10.1.2.3:80", "from <email>, <address>:80"),
    ("password:\n  hunter2", "password:\n  <secret>"),
    ("['--password',\n 'hunter2']", "['--password',\n '<secret>']"),
    ("Authorization: Token abcdef", "Authorization: Token <secret>"),
    ("-H 'X-Api-Key: abcdef'", "-H 'X-Api-Key: <secret>'"),
    (
        f"curl -u bob:hunter2 -H 'Authorization: Bearer {JWT}' x",
        "curl -u bob:<secret> -H 'Authorization: Bearer <secret>' x",
    ),
    ("['curl', '--user', 'bob:hunter2']", "['curl', '--user', 'bob:<secret>']"),
    ("curl -ubob:hunter2 x", "curl -ubob:<secret> x"),
    ("+ mysql -u root -phunter2 db", "+ mysql -u root -p<secret> db"),
    ("sshpass -p hunter2 ssh x", "sshpass -p <secret> ssh x"),
    ("docker login -u bob -p 'hunter2' hub", "docker login -u bob -p '<secret>' hub"),
    ("redis-cli -h db -a hunter2 ping", "redis-cli -h db -a <secret> ping"),
    ("openssl rsa -passin pass:hunter2 x", "openssl rsa -passin pass:<secret> x"),
    (
        '{"auths": {"h": {"auth": "Ym9iOmh1bnRlcjI="}}}',
        '{"auths": {"h": {"auth": "<secret>"}}}',
    ),
    ("//r.io/:_auth=Ym9iOmh1bnRlcjI=", "//r.io/:_auth=<secret>"),
    (
        "machine api.wandb.ai\n  login user\n  password hunter2\n",
        "machine api.wandb.ai\n  login user\n  password <secret>\n",
    ),
    ("machine h login bob password hunter2", "machine h login bob password <secret>"),
    ("Set-Cookie: sid=abc; Path=/", "Set-Cookie: <secret>"),
    ("Cookie: a=1; csrf=x\nnext: 1", "Cookie: <secret>\nnext: 1"),
    ("cookies={'sid': 'abc'}, lr=1", "cookies=<secret>, lr=1"),
    ("sessionid=0123456789abcdefgh", "sessionid=<secret>"),
    ("login('bob', \"hunter2\")", "login('<secret>', \"<secret>\")"),
    ("api.log_in(user='bob', pin='1234')", "api.log_in(user='<secret>', pin='<secret>')"),
    ("get(url, auth=('bob', 'hunter2'))", "get(url, auth=('<secret>', '<secret>'))"),
    ("HTTPBasicAuth('bob', 'hunter2')", "HTTPBasicAuth('<secret>', '<secret>')"),
    ("client.set_password('hunter2')", "client.set_password('<secret>')"),
    ("setenv('DB_PASSWORD', 'hunter2')", "setenv('DB_PASSWORD', '<secret>')"),
    (
        "https://hooks.slack.com/services/T0/B0/abcdef done",
        "https://hooks.slack.com/<secret> done",
    ),
    (
        "'https://discord.com/api/webhooks/12/ab-cd'",
        "'https://discord.com/api/webhooks/<secret>'",
    ),
    (
        "https://open.feishu.cn/open-apis/bot/v2/hook/0f-1e",
        "https://open.feishu.cn/open-apis/bot/v2/hook/<secret>",
    ),
    (
        "https://acme.webhook.office.com/webhookb2/0f@1e/IncomingWebhook/2/3",
        "https://acme.webhook.office.com/webhookb2/<secret>",
    ),
    ("bot123456789:AAE0123456789012345678901234567890_/sendMessage", "bot<secret>/sendMessage"),
    ("glrt-0123456789abcdefghij dckr_pat_0123456789abcdefghij", "<secret> <secret>"),
    ("fe80::1ff:fe23:4567:890a aa:bb:cc:dd:ee:0f", "<address> <address>"),
    ("/home/bob/x /Users/eve /home/runner/y", "/home/<user>/x /Users/<user> /home/runner/y"),
    (f"val_{HF} run_ghp_abcdefghijklmnopqrstuvwxyz0123456789_v2", "val_<secret> run_<secret>_v2"),
    ("<user>@acme.example bob@<argument>.example", "<email> <email>"),
    ("ssh <user>@gpu07.acme.lan", "ssh <email>"),
    ("HF_TOKEN=Kirsche220x ?token=Kirsche201x&n=1", "HF_TOKEN=<secret> ?token=<secret>&n=1"),
    (
        "{'token': 'Kirsche204x', \"pass\": 'Kirsche205x'}",
        "{'token': '<secret>', \"pass\": '<secret>'}",
    ),
    (
        "MYSQL_PASS=kirsche login_pw: 'kirsche' pw=Kirsche138x",
        "MYSQL_PASS=<secret> login_pw: '<secret>' pw=<secret>",
    ),
    ("train.py --pw kirsche", "train.py --pw <secret>"),
    ("mysql -u bob -pkirsche; docker ps", "mysql -u bob -p<secret>; docker ps"),
    (r"'password: kirsche\n  token'", r"'password: <secret>\n  token'"),
]


@pytest.mark.parametrize(("text", "masked"), MASKED)
def test_what_is_masked(text: str, masked: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == masked
    marks = sum(masked.count(mark) for mark in ("<secret>", "<email>", "<address>"))
    assert redactor.count == marks
    assert Redactor().text(masked) == masked
    assert may_hold_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "tokens: 1024 token=17 pad_token='<pad>' eos_token_id=50256 loss_per_token=0.12345678901234567",
        "sort_key=name keys: 5 key=3 monkey=banana design=flat",
        "12:34:56 1:02:03 2026-11-22T07:40:00 std::vector at::native",
        "127.0.0.1 0.0.0.0 cudnn 9.1.0.70 nvidia-cudnn-cu12==9.1.0.70 version: 1.2.3.4 v1.2.3.4",
        "scores = q@k.transpose(-2, -1); y = x@self.weight",
        "password=args.password secret: none token = None PWD=/root/x",
        "commit 1fb6129deadbeefdeadbeefdeadbeefdeadbeef sha256 abc",
        "author: x; oauth; 'auth': 'basic'; login required; password required\nthe login page",
        "docker run -u 1000:1000 image; python -u train.py:3; mkdir -p data; mysql -u root db",
        "hooks: 3; https://github.com/pre-commit/pre-commit-hooks/tree; register_hook(name)",
        "login() login(user) authenticate(token); cookiecutter: x; cookies: 3; session: 5",
        "tokenizer('a text') encode_token('x') key('a') print('password') f(token)",
        "driver version\n10.1.2.3"[:14],
        "loss 0.5 lr 1e-3",
        "forward pass: 3 passes=2 pass='fuse' backward_pass=0.25 conv.pw.weight pw=3x3 bypass: on",
    ],
)
def test_what_stays(text: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == text
    assert redactor.count == 0


def test_a_private_key_is_masked_also_where_a_log_is_cut_inside_of_it() -> None:
    for cut in (0, 40, 60, len(KEY) - 30, len(KEY)):
        line_end = KEY.rfind("\n", 0, cut) + 1
        redactor = Redactor()
        masked = redactor.text("a\n" + KEY[:line_end]) + redactor.text(
            KEY[line_end:] + "loss 0.5\n"
        )
        assert "MIIE" not in masked and "iWlX" not in masked
        assert masked.endswith("-----END PRIVATE KEY-----\nloss 0.5\n")
        assert masked.count("\n") == KEY.count("\n") + 2
        assert redactor.count == 1


def test_a_key_without_an_end_hides_nothing_behind_it() -> None:
    masked = Redactor().text(
        "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nstep 1: loss 0.5\nstep 2: loss 0.4\n"
    )
    assert masked == "-----BEGIN PRIVATE KEY-----\n<secret>\nstep 1: loss 0.5\nstep 2: loss 0.4\n"


def test_a_key_in_one_line_is_masked_where_its_end_was_cut() -> None:
    key = "metric/-----BEGIN PRIVATE KEY-----\\nMIIEowIBAAKCAQEA04up8hoqzS1"
    masked = "metric/-----BEGIN PRIVATE KEY-----\\<secret>"
    assert Redactor().text(key) == masked
    said = "-----BEGIN PRIVATE KEY----- was expected, and not found"
    assert Redactor().text(said) == said


def test_arguments_are_masked_by_the_name_of_their_option() -> None:
    words = [
        "train.py",
        "--password=P",
        "--hf_token",
        "x",
        "--max-token",
        "5",
        "--wandb-key",
        "K",
        "db.password=q",
        "--seed",
        "3",
    ]
    masked = [
        "train.py",
        "--password=<secret>",
        "--hf_token",
        "<secret>",
        "--max-token",
        "5",
        "--wandb-key",
        "<secret>",
    ]
    assert Redactor().arguments(words) == [*masked, "db.password=<secret>", "--seed", "3"]
    shell = ["bash", "-c", "API_KEY=abc python train.py --token zzz --seed 3"]
    assert (
        Redactor().arguments(shell)[2]
        == "API_KEY=<secret> python train.py --token <secret> --seed 3"
    )
    assert Redactor().arguments(["--password=two words"]) == ["--password=<secret>"]
    assert Redactor().arguments(["--password", "--verbose"]) == ["--password", "--verbose"]


def test_a_value_behind_an_option_of_one_letter_is_masked_as_one_that_stands_alone() -> None:
    words = [f"-p{HF}", "-c2001:db8:1:2:3:4:5:6", f"-ldata/{HF}.pt", "-hf", "-O2", "-lr"]
    masked = ["-p<secret>", "-c<address>", "-ldata/<secret>.pt", "-hf", "-O2", "-lr"]
    assert Redactor().arguments(words) == masked


def test_of_the_path_of_a_file_a_token_alone_is_masked() -> None:
    path = f"runs/{HF}/anna@acme.example/10.2.3.4/token=abc.pt"
    assert Redactor().path(path) == path.replace(HF, "<secret>")


def test_values_of_secret_options_and_variables_are_masked_wherever_they_stand() -> None:
    environment = {
        "WANDB_API_KEY": "0123456789abcdef",
        "SSH_AUTH_SOCK": "/tmp/ssh-1/agent",
        "HF_TOKEN": "short",
        "DB_PASSWD": "73518264",
        "LANG": "en_US.UTF-8",
    }
    known = known_secrets(
        ["train.py", "--password", "pa55word", "--db-secret=qwe-rty", "--seed", "123456"],
        environment,
    )
    assert known == ["0123456789abcdef", "73518264", "pa55word", "qwe-rty"]
    redactor = Redactor(known)
    assert redactor.text("['pa55word'] x0123456789abcdef 123456") == "['<secret>'] x<secret> 123456"
    assert redactor.count == 2


def test_source_stays_code_of_the_same_meaning() -> None:
    text = f"""
password = "hunter2"  # ask anna@example.org
y = x@self.weight; scores = q@k.T
HOST = "10.3.4.5"
os.environ["HF_TOKEN"] = "{HF}"
token = tokenizer.pad_token
KEY = ("-----BEGIN PRIVATE KEY-----\\n"
       "MIIEowIBAAKCAQEA\\n"
       "-----END PRIVATE KEY-----")
password: str = args.password
"""
    masked = Redactor().source(text)
    for planted in ("hunter2", "anna@", "10.3.4.5", HF, "MIIE"):
        assert planted not in masked
    for kept in (
        "y = x@self.weight; scores = q@k.T",
        "token = tokenizer.pad_token",
        "password: str = args.password",
    ):
        assert kept in masked
    assert [type(node) for node in ast.walk(ast.parse(masked))] == [
        type(node) for node in ast.walk(ast.parse(text))
    ]


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("# password: hunter2", "# password: <secret>"),
        ("# password: swordfish", "# password: <secret>"),
        ('CONFIG = "user: bob, password: hunter2"', 'CONFIG = "user: bob, password: <secret>"'),
        ('x = \'{"password": "hunter2"}\'', 'x = \'{"password": "<secret>"}\''),
        ('"""\npassword: hunter2\n"""', '"""\npassword: <secret>\n"""'),
        ('password = """hunter2"""', 'password = """<secret>"""'),
        ('password: str = f"hunter2"', 'password: str = f"<secret>"'),
        ('password = ("hunter2")', 'password = ("<secret>")'),
        ('assert password == "hunter2"', 'assert password == "<secret>"'),
        ('login("bob", token="hunter2")', 'login("<secret>", token="<secret>")'),
        (
            'os.environ.setdefault("DB_PASSWORD", "hunter2")',
            'os.environ.setdefault("DB_PASSWORD", "<secret>")',
        ),
        (
            'parser.add_argument("--password", default="hunter2")',
            'parser.add_argument("--password", default="<secret>")',
        ),
        ('run("curl -u bob:hunter2 x")', 'run("curl -u bob:<secret> x")'),
        (
            'HOOK = "https://hooks.slack.com/services/T0/B0/x"',
            'HOOK = "https://hooks.slack.com/<secret>"',
        ),
        ('h = {"Cookie": "sid=abc"}', 'h = {"Cookie": "<secret>"}'),
        ("!curl -u bob:hunter2 x\ny = 1", "!curl -u bob:<secret> x\ny = 1"),
        ("%env DB_PASSWORD=hunter2", "%env DB_PASSWORD=<secret>"),
        ("def broken(:\n  password = 'hunter2'", "def broken(:\n  password = '<secret>'"),
    ],
)
def test_source_is_masked_in_literals_and_comments(line: str, masked: str) -> None:
    assert Redactor().source(line) == masked
    assert Redactor().source(masked) == masked


@pytest.mark.parametrize(
    "line",
    [
        '"""Log in.\n\npassword: the one of the account\ntoken: a string\n"""',
        "def login(user: str, password: str, cookie: str = '') -> None: ...",
        "parser.add_argument('--token', default=None, help='a token (see the docs)')",
        "columns = ['user', 'password', 'email']",
        "key = random.key(seed); keys = sorted(tokens)",
        "login(user, password)",
        "print(f'password={args.password!r} token {token}')",
    ],
)
def test_source_without_a_secret_stays(line: str) -> None:
    assert Redactor().source(line) == line


@pytest.mark.parametrize(
    "name",
    [
        "--password",
        "hf_token",
        "AWS_SECRET_ACCESS_KEY",
        "dbPassword",
        "wandb-key",
        "api_key",
        "x.token",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "pad_token",
        "max_tokens",
        "key",
        "sort-key",
        "keyboard",
        "image_key",
        "compass",
        "tokenizer",
    ],
)
def test_names_of_other_things(name: str) -> None:
    assert not is_secret_name(name)


def test_variables_lose_addresses_and_other_users_and_names_of_network_cards() -> None:
    redactor = Redactor()
    assert redactor.variable("NCCL_SOCKET_IFNAME", "enp3s0") == "<interface>"
    assert redactor.variable("LD_PRELOAD", "/home/bob/lib.so") == "/home/<user>/lib.so"
    assert redactor.variable("MS_LABEL", "anna@example.org") == "<email>"
    assert redactor.variable("OMP_NUM_THREADS", "4") == "4"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("OMP_NUM_THREADS", "4", "4"),
        ("KMP_AFFINITY", "granularity=fine,compact", "granularity=fine,compact"),
        ("NCCL_SOCKET_IFNAME", "eth0", "<interface>"),
        ("MS_LABEL", "a@b.org", "<email>"),
        ("MS_SERVER", "10.1.2.3", "<address>"),
        ("MS_SERVER", "fe80::1:2", "<address>"),
        ("LD_PRELOAD", "/home/bob/x.so", "/home/<user>/x.so"),
    ],
)
def test_variables_that_are_short_and_plain_are_the_only_ones_not_looked_into(
    name: str, value: str, said: str
) -> None:
    assert shown(name, value) == said
