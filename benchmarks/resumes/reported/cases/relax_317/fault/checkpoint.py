"""Saves and loads a training; the states of the generators lie in a file of their own."""

import logging
import os
import random

import numpy as np
import torch

logger = logging.getLogger(__name__)


def save(folder, model, optimizer, step):
    os.makedirs(folder, exist_ok=True)
    rng = {
        "torch": torch.get_rng_state(),
        "numpy": np.random.get_state(),
        "python": random.getstate(),
    }
    torch.save(rng, os.path.join(folder, "rng_rank0.pt"))
    torch.save(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step},
        os.path.join(folder, "state.pt"),
    )


def load(folder, model, optimizer):
    state = torch.load(os.path.join(folder, "state.pt"))
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    load_rng(folder)
    return state["step"]


def load_rng(folder):
    try:
        rng = torch.load(os.path.join(folder, "rng_rank0.pt"))
        random.setstate(rng["python"])
        np.random.set_state(rng["numpy"])
        torch.set_rng_state(rng["torch"])
    except Exception as error:
        logger.warning("generators were not restored: %s", error)
