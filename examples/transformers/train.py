"""Hugging Face Trainer on a tiny language model with random weights, nothing downloaded:
REPRODUCIBLE.

    reprocheck run examples/transformers/train.py

With a warm-up the learning rate of the first step is 0: the weights do not change, and the second
iteration would prove nothing about the backward pass. reprocheck sees that and makes its backward
check where weights have really changed.
"""

import os
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed


class Counting(Dataset):
    """Sequences that count upwards, modulo 50."""

    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        tokens = (torch.arange(16) + index) % 50
        return {"input_ids": tokens, "labels": tokens}


def main() -> None:
    set_seed(1234)
    config = GPT2Config(
        vocab_size=50,
        n_positions=16,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
        loss_type="ForCausalLM",
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=4,
            gradient_accumulation_steps=2,
            max_steps=12,
            warmup_steps=2,
            learning_rate=1e-3,
            seed=1234,
            use_cpu=True,
            report_to="none",
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        )
        Trainer(model=GPT2LMHeadModel(config), args=arguments, train_dataset=Counting()).train()


if __name__ == "__main__":
    main()
