"""Training through a library's loop, two loader workers alive: `python trainers.py lightning|transformers [CALLBACK]`.

8 updates of two losses each. Each worker of the loader leaves its process number in the folder WORKERS.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

UPDATES, ACCUMULATE, BATCH = 8, 2, 4


class Counting(Dataset):
    """Sequences that count upwards, modulo 50."""

    def __len__(self):
        return 2 * UPDATES * ACCUMULATE * BATCH

    def __getitem__(self, index):
        Path(os.environ["WORKERS"], str(os.getpid())).touch()
        tokens = (torch.arange(16) + index) % 50
        return {"input_ids": tokens, "labels": tokens}


class Model(nn.Module):
    """Predicts each token from itself."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Embedding(50, 16), nn.Dropout(0.1), nn.Linear(16, 50))

    def forward(self, input_ids, labels):
        return nn.functional.cross_entropy(self.layers(input_ids).flatten(0, 1), labels.flatten())


def callbacks():
    import reprocheck

    return [getattr(reprocheck, name)() for name in sys.argv[2:]]


def lightning():
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = Model()

        def training_step(self, batch, batch_idx):
            return self.model(**batch)

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    lightning.seed_everything(1, workers=True, verbose=False)
    lightning.Trainer(
        max_steps=UPDATES,
        accumulate_grad_batches=ACCUMULATE,
        accelerator="cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=callbacks(),
    ).fit(Module(), DataLoader(Counting(), batch_size=BATCH, shuffle=True, num_workers=2, persistent_workers=True))


def transformers():
    import tempfile

    from transformers import Trainer, TrainingArguments, set_seed

    class Returning(Model):
        def forward(self, input_ids, labels):
            return {"loss": super().forward(input_ids, labels)}

    set_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=BATCH,
            gradient_accumulation_steps=ACCUMULATE,
            max_steps=UPDATES,
            warmup_steps=4,
            learning_rate=0.1,
            dataloader_num_workers=2,
            use_cpu=True,
            report_to="none",
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
        )
        Trainer(model=Returning(), args=arguments, train_dataset=Counting(), callbacks=callbacks()).train()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
