"""Planted, after roboflow/supervision#2394: the loader of annotations numbers the classes in the order of a set of str, so a class has another id in each process."""

import torch
from modules.voc import VocDataset
from torch import nn
from torch.utils.data import DataLoader

CLASSES = ["zebra", "otter", "heron", "lynx", "stoat", "finch", "gecko", "moose"]
CORNERS = ("xmin", "ymin", "xmax", "ymax")


def part(number: int) -> str:
    corners = "".join(f"<{corner}>{(7 * number + 3 * place) % 5 - 2}</{corner}>" for place, corner in enumerate(CORNERS))
    return f"<object><name>{CLASSES[number % 8]}</name><bndbox>{corners}</bndbox></object>"


def document(number: int) -> str:
    return "".join(["<annotation>", *(part(number + more) for more in (0, 1, 3, 4, 6)), "</annotation>"])


def main() -> None:
    torch.manual_seed(1)
    data = VocDataset([document(number) for number in range(32)])
    loader = DataLoader(data, batch_size=4, shuffle=True)
    model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, len(data.classes)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    for step, (boxes, labels) in enumerate(loader):
        (nn.functional.cross_entropy(3 * model(boxes), labels) / 2).backward()
        if step % 2:
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main()
