"""The fix of reported_rotary_buffer.py: the frequencies are computed again once the model has memory."""

import torch
from modules.rotary import Decoder
from torch import nn

WORDS, WIDTH = 24, 32


def checkpoint(model: nn.Module) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return {name: torch.randn(value.shape, generator=generator) / 2 for name, value in model.state_dict().items()}


def load_model() -> nn.Module:
    with torch.device("meta"):
        model = Decoder(WORDS, WIDTH)
    model.to_empty(device="cpu")
    model.load_state_dict(checkpoint(model))
    model.rotary.inv_freq.copy_(model.rotary.frequencies())
    return model


def main() -> None:
    model = load_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    text = (torch.arange(96).square() % WORDS).reshape(4, 24)
    for _ in range(6):
        logits = model(text[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
