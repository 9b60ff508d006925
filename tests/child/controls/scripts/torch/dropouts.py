"""Every way to drop in PyTorch: prints which of them give the same twice from two seeds, and whether their gradient is the identity's."""

import json
import warnings

import torch
import torch.nn.functional as F  # noqa: N812
from torch import fx, nn
from torch.nn.utils.rnn import pack_sequence

warnings.filterwarnings("ignore", category=DeprecationWarning)
torch.manual_seed(0)
x, q = torch.randn(4, 8, 16), torch.randn(2, 2, 8, 16)
leaf = torch.randn(4, 8, 16, requires_grad=True)
lstm, gru = (kind(16, 16, 2, dropout=0.5, batch_first=True) for kind in (nn.LSTM, nn.GRU))
rnn = nn.RNN(16, 16, 2, dropout=0.5)
attention = nn.MultiheadAttention(16, 2, dropout=0.5, batch_first=True)
layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.3, batch_first=True)
packed = pack_sequence([x[0], x[1]])
states = (torch.zeros(2, 4, 16), torch.zeros(2, 4, 16))


class HandDropout(nn.Module):
    """One by hand, that may be the identity."""

    def forward(self, x):
        """Mask."""
        return x * (torch.rand_like(x) > 0.5)


class HalvingDropout(nn.Module):
    """One that may not: it changes the shape."""

    def forward(self, x):
        """Mask, and hand back half."""
        return (x * (torch.rand_like(x) > 0.5))[:2]


class Attends(nn.Module):
    """Calls the function."""

    def forward(self, q):
        """Attention."""
        return F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)


class Twice(nn.Module):
    """Calls the function and the operator."""

    def forward(self, x):
        """Twice dropped."""
        return F.dropout(torch.dropout(x, 0.5, True), 0.3)


class Recurrent(nn.Module):
    """To be scripted."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(16, 16, 2, dropout=0.5)

    def forward(self, x):
        """Its output."""
        return self.lstm(x)[0]


scripted = torch.jit.script(nn.Sequential(nn.Dropout(0.5), nn.Dropout1d(0.4)))
scripted_lstm = torch.jit.script(Recurrent())
scripted_attention = torch.jit.script(Attends())
traced, traced_attention = fx.symbolic_trace(Twice()), fx.symbolic_trace(Attends())
compiled = torch.compile(nn.Dropout(0.5), backend="aot_eager")

cases = {
    "nn.Dropout": lambda: nn.Dropout(0.5)(x),
    "functional": lambda: F.dropout(x, 0.3),
    "in place": lambda: F.dropout(x.clone(), p=0.3, inplace=True),
    "torch.dropout": lambda: torch.dropout(x, 0.5, True),
    "nn.Dropout1d": lambda: nn.Dropout1d(0.5)(x),
    "nn.Dropout2d": lambda: nn.Dropout2d(0.5)(x[:, None]),
    "nn.Dropout3d": lambda: nn.Dropout3d(0.5)(x[:, :, None, None]),
    "nn.AlphaDropout": lambda: nn.AlphaDropout(0.5)(x),
    "nn.FeatureAlphaDropout": lambda: nn.FeatureAlphaDropout(0.5)(x),
    "nn.LSTM": lambda: lstm(x)[0],
    "nn.LSTM packed": lambda: lstm(packed)[0].data,
    "nn.GRU": lambda: gru(x)[0],
    "nn.RNN": lambda: rnn(x)[0],
    "attention": lambda: F.scaled_dot_product_attention(q, q, q, dropout_p=0.5),
    "attention by place": lambda: F.scaled_dot_product_attention(q, q, q, None, 0.5),
    "attention operator": lambda: torch.ops.aten.scaled_dot_product_attention(q, q, q, dropout_p=0.5),
    "lstm operator": lambda: torch.lstm(x, states, lstm._flat_weights, True, 2, 0.5, True, False, True)[0],
    "nn.MultiheadAttention": lambda: attention(x, x, x)[0],
    "nn.MultiheadAttention fast": lambda: attention(x, x, x, need_weights=False)[0],
    "nn.TransformerEncoderLayer": lambda: layer(x),
    "native_dropout": lambda: torch.native_dropout(x, 0.5, True)[0],
    "feature_dropout": lambda: torch.feature_dropout(x, 0.5, True),
    "operator": lambda: torch.ops.aten.dropout(x, 0.5, True),
    "compiled": lambda: compiled(x),
    "scripted": lambda: scripted(x),
    "scripted lstm": lambda: scripted_lstm(x),
    "scripted attention": lambda: scripted_attention(q),
    "traced": lambda: traced(x),
    "traced attention": lambda: traced_attention(q),
    "by hand": lambda: HandDropout()(x),
    "gradient": lambda: torch.autograd.grad(nn.Dropout(0.5)(leaf).sum(), leaf)[0],
    "gradient of native_dropout": lambda: torch.autograd.grad(torch.native_dropout(leaf, 0.5, True)[0].sum(), leaf)[0],
    "not safe": lambda: HalvingDropout()(x),
}


def same(case):
    """Whether two seeds give the same."""
    outputs = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        outputs.append(case())
    return torch.equal(*outputs)


found = {name: same(case) for name, case in cases.items()}
ones = [bool((cases[name]() == 1).all()) for name in ("gradient", "gradient of native_dropout")]
kept = torch.equal(nn.Dropout(0.5)(x), x) and torch.equal(nn.Dropout(0.5).eval()(x), x)
print(json.dumps({"same": found, "ones": ones, "kept": kept}))
