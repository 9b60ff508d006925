"""A training by Lightning and one by Transformers; prints what each was given, as the recorder should have it."""

import json

import lightning
import torch
import transformers
from torch import nn

reported = []


def report(name, by, value, iteration, step=None):
    reported.append([name, by, float(value).hex(), iteration, step])


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.seen = 0

    def training_step(self, batch, index):
        self.seen += 1
        loss = self.layer(batch).square().mean()
        self.log("train_loss", loss)
        # before its backward pass: an iteration begins with the loss
        report("train_loss", "lightning", loss, self.seen - 1)
        return loss

    def validation_step(self, batch, index):
        loss = self.layer(batch).sum()
        self.log_dict({"val_loss": loss, "val_count": 2.0}, on_epoch=True)
        report("val_loss", "lightning", loss, self.seen)
        report("val_count", "lightning", 2.0, self.seen)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def by_lightning():
    lightning.seed_everything(1, verbose=False)
    data = torch.utils.data.DataLoader(torch.randn(6, 2), batch_size=2)
    lightning.Trainer(
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        gradient_clip_val=0.5,
        accelerator="cpu",
    ).fit(Model(), data, data)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)

    def forward(self, x=None, labels=None):
        return {"loss": (self.layer(x) - labels).square().mean()}


class Trainer(transformers.Trainer):
    def log(self, logs, *args, **kwargs):
        before = {name: value for name, value in logs.items() if isinstance(value, (int, float))}
        for name, value in before.items():
            report(name, "transformers", value, 3 + self.state.global_step, float(self.state.global_step))
        super().log(logs, *args, **kwargs)


def by_transformers():
    torch.manual_seed(2)
    data = [{"x": torch.randn(2), "labels": torch.ones(1)} for _ in range(4)]
    arguments = transformers.TrainingArguments(
        "out",
        max_steps=2,
        per_device_train_batch_size=2,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        disable_tqdm=True,
    )
    Trainer(Small(), arguments, train_dataset=data).train()


by_lightning()
by_transformers()
print()
print(json.dumps(reported))
