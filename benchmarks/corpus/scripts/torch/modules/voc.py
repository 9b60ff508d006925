"""Annotations in the manner of Pascal VOC for reported_class_order.py; the classes are numbered as a set hands them out."""

from xml.etree import ElementTree

import torch
from torch.utils.data import Dataset


class VocDataset(Dataset):
    def __init__(self, documents: list[str]) -> None:
        self.annotations = [ElementTree.fromstring(document) for document in documents]
        self.classes: list[str] = []
        for annotation in self.annotations:
            self.classes += self.unknown(annotation)

    def unknown(self, annotation: ElementTree.Element) -> list[str]:
        names = {part.findtext("name", "") for part in annotation.iter("object")}
        return list(names - set(self.classes))

    def __len__(self) -> int:
        return len(self.annotations)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        part = self.annotations[index].find("object")
        box = [float(corner.text) for corner in part.find("bndbox")]
        return torch.tensor(box), torch.tensor(self.classes.index(part.findtext("name")))
