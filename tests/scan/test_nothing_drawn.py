"""What looks like a draw and draws nothing: weights that are given, probabilities, ranges and
factors of zero; each with a twin that draws.
"""

from __future__ import annotations

import pytest

from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

KERAS = """\
import keras
import numpy as np
import tensorflow as tf
W = np.load("w.npy")
def ones(shape, dtype=None):
    return np.ones(shape)
net = keras.Sequential([keras.layers.LAYER, keras.layers.Dense(1, kernel_initializer="ones")])
net.compile("sgd", "mse")
net.fit(np.load("x.npy"), np.load("y.npy"), shuffle=False)
"""
MINDSPORE = """\
import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.common.initializer import Normal, One, initializer
from mindspore.dataset import vision
raw = np.load("w.npy")
data = ms.dataset.NumpySlicesDataset(raw, shuffle=False).map([vision.Decode()])
net = nn.LAYER
ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params())).train(1, data)
"""
TORCH = """\
import random
import numpy as np
import timm
import torch
from torchvision import datasets, transforms as t
sigma = 0.0
change = t.Compose([t.LAYER, t.ToTensor()])
net = torch.nn.Linear(4, 1)
net.load_state_dict(torch.load("start.pt"))
drop = torch.nn.Identity()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x, y in torch.utils.data.DataLoader(datasets.FakeData(64, transform=change), 8):
    drop(net(x + NOISE)).sum().backward()
    optimizer.step()
"""
NOISE = TORCH.replace("t.LAYER", "t.ToTensor()").replace("NOISE", "LAYER")
DROP = NOISE.replace("LAYER", "0").replace("torch.nn.Identity()", "LAYER")
FLIP = MINDSPORE.replace("nn.LAYER", 'nn.Dense(8, 1, "ones", "zeros")').replace("Decode()", "LAYER")
AUGMENTATION = TORCH.replace("NOISE", "0")

GIVEN = {
    KERAS: """
        Embedding(9, 5, weights=[W])
        Embedding(9, 5, embeddings_initializer=np.load("a.npy"))
        Embedding(9, 5, "ones")
        Dense(9, kernel_initializer=tf.constant_initializer(W))
        Dense(9, kernel_initializer=keras.initializers.Zeros)
        Dense(9, kernel_initializer=keras.initializers.get("zeros"))
        Dense(9, kernel_initializer=ones)
        Dense(9, "relu", True, "zeros")
        Dropout(0)
        GaussianNoise(stddev=0.0)
        RandomRotation((0, 0))
        RandomTranslation(0.0, width_factor=0.0)
    """,
    MINDSPORE: """
        Dense(8, 1, ms.Tensor(raw), "zeros")
        Embedding(8, 1, embedding_table=raw)
        Conv2d(8, 1, 3, weight_init=initializer(One(), [3, 3]))
    """,
    AUGMENTATION: """
        ColorJitter(brightness=0.0, contrast=0, saturation=(1, 1), hue=[0, 0])
        RandomHorizontalFlip(0.0)
        RandomInvert(p=0)
        RandomAffine(0, translate=(0, 0))
        RandomPerspective(0.5, 0)
    """,
    FLIP: """
        RandomHorizontalFlip(prob=0.0)
        RandomColorAdjust((1, 1), hue=0)
    """,
    NOISE: """
        0.0 * torch.randn(4)
        torch.randn(4) * sigma
        np.random.normal(0, 0)
        random.uniform(0.5, 0.5)
        torch.empty(4).normal_(0, std=0)
    """,
    DROP: """
        timm.layers.DropPath(drop_prob=0.0)
        torch.nn.RReLU(0.1, upper=0.1)
    """,
}
DRAWN = {
    KERAS: """
        Embedding(9, 5, weights=None)
        Dense(9, kernel_initializer=keras.initializers.HeNormal)
        Dense(9, kernel_initializer=keras.initializers.get("he_normal"))
        Dense(9, kernel_initializer=tf.random_normal_initializer())
        LSTM(9, kernel_initializer="ones")
        Dropout(0.1)
        RandomTranslation(0.0, 0.1)
    """,
    MINDSPORE: """
        Dense(8, 1, ms.Tensor(raw))
        Conv2d(8, 1, 3, weight_init=initializer(Normal(0.02), [3, 3]))
    """,
    AUGMENTATION: """
        ColorJitter(0.0, hue=0.1)
        RandomHorizontalFlip()
        RandomAffine(0, translate=(0.1, 0.1))
        RandomPerspective(0.5)
        RandomCrop(32, padding=0)
    """,
    FLIP: """
        RandomHorizontalFlip()
        RandomColorAdjust((1, 1), hue=0.2)
    """,
    NOISE: """
        1.0 * torch.randn(4)
        np.random.normal(0)
        random.uniform(0, 0.5)
    """,
    DROP: """
        timm.layers.DropPath(0.1)
        torch.nn.RReLU()
    """,
}


def programs(table: dict[str, str]) -> list[str]:
    return [
        text.replace("LAYER", line.strip())
        for text, lines in table.items()
        for line in lines.strip().splitlines()
    ]


def errors(text: str) -> list[str]:
    found = findings(of_text({"train.py": text}))
    return [one.text for one in found if one.severity != "note"]


@pytest.mark.parametrize("text", programs(GIVEN))
def test_what_draws_nothing_has_no_finding(text: str) -> None:
    assert errors(text) == []


@pytest.mark.parametrize("text", programs(DRAWN))
def test_what_draws_has_one(text: str) -> None:
    assert len(errors(text)) == 1


def test_weights_that_are_put_into_a_layer_replace_what_it_drew() -> None:
    text = NOISE.replace("LAYER", "0").replace(
        "torch.nn.Linear(4, 1)", "torch.nn.Linear(4, 1)\nFILL"
    )
    bare = text.replace('net.load_state_dict(torch.load("start.pt"))\n', "")
    assert len(errors(bare.replace("FILL", "pass"))) == 1
    assert errors(bare.replace("FILL", 'net.weight.data = torch.load("w.pt")')) == []
    vector = 'torch.nn.utils.vector_to_parameters(torch.load("w.pt"), net.parameters())'
    assert errors(bare.replace("FILL", vector)) == []
