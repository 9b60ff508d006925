"""An average whose decay warms up with the number of updates."""

import torch


class EMATracker:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.num_updates = 0
        self.params = {name: one.detach().clone() for name, one in model.named_parameters()}

    def __call__(self, model):
        self.num_updates += 1
        decay = min(self.decay, (1 + self.num_updates) / (10 + self.num_updates))
        with torch.no_grad():
            for name, one in model.named_parameters():
                self.params[name].sub_((1 - decay) * (self.params[name] - one))

    def get_state(self):
        return {"params": self.params}

    def set_state(self, state):
        self.params = state["params"]
