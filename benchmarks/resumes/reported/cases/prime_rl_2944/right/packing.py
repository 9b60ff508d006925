"""Packs texts into rows of one length; what does not fit begins the next row."""

import torch


class Texts:
    def __init__(self, count=200, seed=1):
        generator = torch.Generator().manual_seed(seed)
        lengths = torch.randint(3, 9, (count,), generator=generator).tolist()
        self.texts = [torch.randint(1, 30, (length,), generator=generator) for length in lengths]
        self.index = 0

    def __iter__(self):
        while self.index < len(self.texts):
            self.index += 1
            yield self.texts[self.index - 1]


class CatDataset:
    def __init__(self, texts, length=16):
        self.texts, self.length = texts, length
        self.left = []

    def __iter__(self):
        packed = self.left
        for text in self.texts:
            if sum(map(len, packed)) + len(text) > self.length:
                row = torch.cat(packed)
                packed = [text]
                self.left = packed
                yield nn_pad(row, self.length)
            else:
                packed.append(text)

    def state_dict(self):
        return {"index": self.texts.index, "left": self.left}

    def load_state_dict(self, state):
        self.texts.index = state["index"]
        self.left = state["left"]


def nn_pad(row, length):
    return torch.nn.functional.pad(row, (0, length - len(row)))
