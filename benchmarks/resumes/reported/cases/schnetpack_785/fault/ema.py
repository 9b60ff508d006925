"""An average of the weights that takes their place for a validation."""

import copy

import torch


class EMA:
    def __init__(self, model, decay=0.8):
        self.decay = decay
        self.model = model
        self.shadow = {name: value.clone() for name, value in model.state_dict().items()}
        self.stored = None

    @torch.no_grad()
    def update(self):
        for name, value in self.model.state_dict().items():
            self.shadow[name].lerp_(value, 1 - self.decay)

    def swap_in(self):
        self.stored = copy.deepcopy(self.model.state_dict())
        self.model.load_state_dict(self.shadow)

    def swap_out(self):
        self.model.load_state_dict(self.stored)
        self.stored = None
