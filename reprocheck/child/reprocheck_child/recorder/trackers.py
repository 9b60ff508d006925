"""Records what a training hands to its experiment trackers, each value in its series.

Each tracker has one function that all its other ways lead through. A wrapper looks at what it is
given, or at what it returns; the function itself gets what it was given. Nothing is imported that
the script does not import.
"""

from __future__ import annotations

from ..files_seen.native_readers import hooking_in
from . import import_hook
from .hooking import around

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Mapping

    from .series import Series

    Values = Iterable[tuple[object, object, object]]
    """Name, value, and the step that the tracker is given or None."""
    Take = Callable[..., Values]

WHAT = "watching what a tracker is given"
_DEPTH = 8
"""Dictionaries inside each other that are looked into."""


def install(series: Series) -> None:
    """Wait for each tracker."""
    for module, function, by, take in GIVEN:
        import_hook.when_imported(module, _watching(series, function, by, take))
    for module, function, by, take in RETURNED:
        import_hook.when_imported(module, _watching(series, function, by, take, returned=True))


def _watching(
    series: Series, function: str, by: str, take: Take, returned: bool = False
) -> import_hook.Callback:
    def say(*args: Any, **kwargs: Any) -> None:
        for name, value, step in take(*args, **kwargs):
            series.add(name, value, step, by)

    def say_returned(values: Any, *_: Any, **__: Any) -> None:
        say(values)

    if returned:
        return hooking_in(
            function, lambda owner, name: around(owner, name, WHAT, after=say_returned)
        )
    return hooking_in(function, lambda owner, name: around(owner, name, WHAT, before=say))


def _scalar(
    _: object,
    tag: object,
    scalar_value: object,
    global_step: object = None,
    *__: object,
    **___: object,
) -> Values:
    yield tag, scalar_value, global_step


def _scalars(
    _: object,
    main_tag: object,
    tag_scalar_dict: Mapping[object, object],
    global_step: object = None,
    *__: object,
    **___: object,
) -> Values:
    for tag, value in tag_scalar_dict.items():
        yield f"{main_tag}/{tag}", value, global_step


def _summary(name: object, data: object, step: object = None, *_: object, **__: object) -> Values:
    yield name, data, step


def _lightning(_: object, name: object, value: object, *__: object, **___: object) -> Values:
    yield name, value, None


def _fabric(
    _: object, metrics: Mapping[object, object], step: object = None, *__: object, **___: object
) -> Values:
    for name, value in metrics.items():
        yield name, value, step


def _wandb(
    _: object, data: Mapping[object, object], step: object = None, *__: object, **___: object
) -> Values:
    for name, value in _flat(data, _DEPTH):
        yield name, value, step


def _flat(data: Mapping[object, object], depth: int) -> Iterable[tuple[object, object]]:
    """Yield names and values of nested dictionaries: `a/b`."""
    for name, value in data.items():
        if not isinstance(value, dict):
            yield name, value
        elif depth:
            for inner, number in _flat(value, depth - 1):
                yield f"{name}/{inner}", number


def _mlflow_metric(
    _: object,
    run_id: object,
    key: object,
    value: object,
    timestamp: object = None,
    step: object = None,
    *__: object,
    **___: object,
) -> Values:
    yield key, value, step


def _mlflow_batch(
    _: object, run_id: object, metrics: Iterable[Any] = (), *__: object, **___: object
) -> Values:
    # another kind of iterable would be used up
    if isinstance(metrics, (list, tuple)):
        for metric in metrics:
            yield metric.key, metric.value, metric.step


def _transformers(trainer: Any, logs: Mapping[object, object], *_: object, **__: object) -> Values:
    for name, value in logs.items():
        yield name, value, trainer.state.global_step


def _stable_baselines3(logger: Any, step: object = 0, *_: object, **__: object) -> Values:
    for name, value in list(logger.name_to_value.items()):
        yield name, value, step


def _mindspore(_: object, plugin: object, name: object, value: object) -> Values:
    if plugin == "scalar":
        yield name, value, None


def _metrics(values: Mapping[object, object]) -> Values:
    for name, value in values.items():
        yield name, value, None


GIVEN: tuple[tuple[str, str, str, Take], ...] = (
    ("torch.utils.tensorboard.writer", "SummaryWriter.add_scalar", "tensorboard", _scalar),
    ("torch.utils.tensorboard.writer", "SummaryWriter.add_scalars", "tensorboard", _scalars),
    ("tensorboardX.writer", "SummaryWriter.add_scalar", "tensorboardx", _scalar),
    ("tensorboardX.writer", "SummaryWriter.add_scalars", "tensorboardx", _scalars),
    # `tf.summary.scalar` asks TensorBoard for it at each call, by the name of another module, which
    # takes it from here when it is imported
    ("tensorboard.plugins.scalar.summary_v2", "scalar", "tensorflow", _summary),
    # `wandb.log` is the bound method of the run
    ("wandb.sdk.wandb_run", "Run.log", "wandb", _wandb),
    # with WANDB_MODE=disabled, from wandb 0.31 on
    ("wandb.sdk.lib.noop_run", "NoopRun.log", "wandb", _wandb),
    # the functions of `mlflow` itself, autologging included, make such a client
    ("mlflow.tracking.client", "MlflowClient.log_metric", "mlflow", _mlflow_metric),
    ("mlflow.tracking.client", "MlflowClient.log_batch", "mlflow", _mlflow_batch),
    # `log_dict` calls it; both packages hold a copy of everything
    ("lightning.pytorch.core.module", "LightningModule.log", "lightning", _lightning),
    ("pytorch_lightning.core.module", "LightningModule.log", "lightning", _lightning),
    ("lightning.fabric.fabric", "Fabric.log_dict", "lightning", _fabric),
    ("lightning_fabric.fabric", "Fabric.log_dict", "lightning", _fabric),
    ("transformers.trainer", "Trainer.log", "transformers", _transformers),
    # `record` keeps the last value of each name until then
    (
        "stable_baselines3.common.logger",
        "Logger.dump",
        "stable_baselines3",
        _stable_baselines3,
    ),
    ("mindspore.train.summary.summary_record", "SummaryRecord.add_value", "mindspore", _mindspore),
)
"""The module after whose import it is wrapped, the function, the name of the tracker, and what is
taken of its arguments."""

RETURNED: tuple[tuple[str, str, str, Take], ...] = (
    # private, but what `Model.eval` and the evaluation inside `Model.fit` both end with
    ("mindspore.train.model", "Model._get_metrics", "mindspore", _metrics),
)
"""The same, of what the function returns."""
