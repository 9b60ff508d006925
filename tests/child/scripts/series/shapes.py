"""Trackers that are not installed here, in the shape that they have: TensorBoard 2.21, tensorboardX 2.6, wandb 0.31,
MLflow 3.17, Stable-Baselines3 2.9.
"""

import json
import sys
from collections import namedtuple
from pathlib import Path

MODULES = {
    "wandb/__init__.py": "",
    "wandb/sdk/__init__.py": "",
    "wandb/sdk/wandb_run.py": """
class Run:
    def log(self, data, step=None, commit=None):
        pass
""",
    "wandb/sdk/lib/__init__.py": "",
    "wandb/sdk/lib/noop_run.py": """
from wandb.sdk.wandb_run import Run

class NoopRun(Run):
    def log(self, data, *args, **kwargs):
        pass
""",
    "tensorboard/__init__.py": "",
    "tensorboard/plugins/__init__.py": "",
    "tensorboard/plugins/scalar/__init__.py": "",
    "tensorboard/plugins/scalar/summary_v2.py": """
def scalar(name, data, step=None, description=None):
    pass
""",
    "tensorboardX/__init__.py": "",
    "tensorboardX/writer.py": """
class SummaryWriter:
    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None):
        pass

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        pass
""",
    "mlflow/__init__.py": "",
    "mlflow/tracking/__init__.py": "",
    "mlflow/tracking/client.py": """
class MlflowClient:
    def log_metric(self, run_id, key, value, timestamp=None, step=None, synchronous=None):
        pass

    def log_batch(self, run_id, metrics=(), params=(), tags=(), synchronous=None):
        pass
""",
    "stable_baselines3/__init__.py": "",
    "stable_baselines3/common/__init__.py": "",
    "stable_baselines3/common/logger.py": """
class Logger:
    def __init__(self):
        self.name_to_value = {}

    def record(self, key, value, exclude=None):
        self.name_to_value[key] = value

    def dump(self, step=0):
        self.name_to_value.clear()
""",
}
for name, text in MODULES.items():
    Path("modules", name).parent.mkdir(parents=True, exist_ok=True)
    Path("modules", name).write_text(text)
sys.path.insert(0, "modules")

from mlflow.tracking.client import MlflowClient  # noqa: E402
from stable_baselines3.common.logger import Logger  # noqa: E402
from tensorboard.plugins.scalar.summary_v2 import scalar  # noqa: E402
from tensorboardX.writer import SummaryWriter  # noqa: E402
from wandb.sdk.lib.noop_run import NoopRun  # noqa: E402
from wandb.sdk.wandb_run import Run  # noqa: E402

Metric = namedtuple("Metric", "key value timestamp step")
endless = {}
endless["more"] = endless

log = Run().log
log({"loss": 0.1, "eval": {"accuracy": 1, "image": object(), "name": "x"}}, step=3)
log({"loss": float("nan"), **endless}, commit=False)
NoopRun().log({"loss": 0.5}, 6)
client = MlflowClient()
client.log_metric("run", "loss", 0.2, step=4)
client.log_metric("run", key="loss", value=2**60 + 1)
client.log_batch("run", [Metric("a", 0.3, 0, 5), Metric("b", 0.4, 0, 5)])
client.log_batch("run", (metric for metric in ()))
client.log_batch("run", params=[1])
writer = SummaryWriter()
writer.add_scalar("loss", 0.25, global_step=7)
writer.add_scalars("valid", {"loss": 0.75, "accuracy": "none"}, 8)
scalar("loss", 0.6, step=9)
logger = Logger()
for reward in (-3.0, -2.0):
    logger.record("eval/mean_reward", reward)
logger.dump(10)
logger.dump(step=11)
reported = [
    ["loss", "wandb", (0.1).hex(), 0, 3.0],
    ["eval/accuracy", "wandb", (1.0).hex(), 0, 3.0],
    ["loss", "wandb", "nan", 0, None],
    ["loss", "wandb", (0.5).hex(), 0, 6.0],
    ["loss", "mlflow", (0.2).hex(), 0, 4.0],
    ["loss", "mlflow", (2.0**60).hex(), 0, None],
    ["a", "mlflow", (0.3).hex(), 0, 5.0],
    ["b", "mlflow", (0.4).hex(), 0, 5.0],
    ["loss", "tensorboardx", (0.25).hex(), 0, 7.0],
    ["valid/loss", "tensorboardx", (0.75).hex(), 0, 8.0],
    ["loss", "tensorflow", (0.6).hex(), 0, 9.0],
    ["eval/mean_reward", "stable_baselines3", (-2.0).hex(), 0, 10.0],
]
print(json.dumps(reported))
