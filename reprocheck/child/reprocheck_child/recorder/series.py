"""Records series: numbers that the training computes and reports itself, beside its losses.

They are taken where the training hands them to a tracker, a scheduler, a clipping function or
`reprocheck.log`, and never computed for us. A value that lies on a device is read when it has
arrived, as losses are.
"""

from __future__ import annotations

from ..files_seen.native_readers import hooking_in
from . import import_hook, json_text
from .hooking import around
from .lines import exact_text, finite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Mapping

    from .events import Recorder

    Number = tuple[Any, str]
    """A value as a Python number, and the name of its dtype."""
    Later = Callable[[bool], Number | None]
    """As `Deferred`, of one number."""
    Values = Iterable[tuple[object, object, object]]
    """Name, value, and the step that the tracker is given or None."""
    Take = Callable[..., Values]

LONGEST_NAME = 200
"""Characters of a name that are kept."""
_READ = 2000
"""Characters of a name that are searched for secrets: cut shorter, one might not be known."""
MOST_NAMES = 2_000
"""Series of which the beginning of a line is kept."""
_USUAL = ("float32", "float64", "bfloat16", "float16")


class Series:
    """Record the series of one process. Nothing here raises."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.readers: dict[str, Callable[[Any], Number | Later | None]] = {}
        """Top-level module of a value's class -> what reads it; None for what is no number."""
        self._last: dict[tuple[str, str], Number] = {}
        # by whom and name -> how each line of the series begins
        self._begins: dict[tuple[str, str], str] = {}
        recorder.on_fork.append(self._last.clear)

    def add(self, name: object, value: Any, step: Any = None, by: str = "") -> None:
        """Add one value of the series `name`; a value that is no single number is left out.

        step  place on the tracker's own axis; None if the tracker is not given one
        by    name of the tracker or framework that is given the value
        """
        self._put(name, value, step, by, always=True)

    def add_all(self, values: Mapping[Any, Any], step: Any = None, by: str = "") -> None:
        """Add the values of several series, from the dictionary that a tracker is given."""
        for name, value in values.items():
            self.add(name, value, step, by)

    def keep(self, name: str, value: Any, by: str) -> None:
        """Add one value of a series if the value changed: a learning rate, for example."""
        self._put(name, value, None, by, always=False)

    def _put(self, name: object, value: Any, step: Any, by: str, *, always: bool) -> None:
        """Record a value, at once or when the value has arrived from a device.

        always  whether the value is recorded even if it equals the last one of its series
        """
        try:
            reading = self._read(value)
            if reading is None:
                return
            head = self._head(name, step, by)
            if not callable(reading):
                if always or self._changed(name, by, reading):
                    self._recorder.line(_line(head, reading))
                return
            read = reading

            def line(wait: bool) -> str | None:
                number = read(wait)
                if number is None:
                    return None
                if always or self._changed(name, by, number):
                    return _line(head, number)
                return ""

            self._recorder.later_line(line)
        except Exception as error:
            self._recorder.problem("a value of a series", error)

    def _changed(self, name: object, by: str, number: Number) -> bool:
        """Return whether a value differs from the last one of its series, and remember it."""
        key = (by, str(name))
        if self._last.get(key) == number:
            return False
        self._last[key] = number
        return True

    def _head(self, name: object, step: Any, by: str) -> str:
        """Return the JSON line of a value without its end: all keys before the value."""
        key = (by, str(name))
        begin = self._begins.get(key)
        if begin is None:
            begin = self._begin(*key)
        place = None if step is None else _step(step)
        if place is None:
            return '%s,"i":%d' % (begin, self._recorder.iteration)
        return '%s,"i":%d,"s":%r' % (begin, self._recorder.iteration, place)

    def _begin(self, by: str, name: str) -> str:
        event = {"e": "series", "n": self._recorder.plain(name[:_READ])[:LONGEST_NAME]}
        if by:
            event["by"] = by
        begin = json_text.dumps(event)[:-1]
        if len(self._begins) < MOST_NAMES:
            self._begins[(by, name)] = begin
        return begin

    def _read(self, value: Any) -> Number | Later | None:
        kind = type(value)
        if kind is float:
            return value, "float64"
        if kind is int:
            return value, "int"
        reader = self.readers.get(kind.__module__.partition(".")[0])
        if reader is not None:
            return reader(value)
        return plain_number(value)


def plain_number(value: Any) -> Number | None:
    """Return (number, dtype) for a value of an array library; None if it is no single number.

    Read are values of numpy, JAX and MindSpore, and eager ones of TensorFlow. Texts, images, and
    symbolic values of a compiled function give None.
    """
    if isinstance(value, (bool, str, bytes)):
        return None
    size = getattr(value, "size", 1)
    if callable(size) or size != 1:
        return None
    try:
        array = getattr(value, "numpy", lambda: value)()
        item = getattr(array, "item", lambda: array)()
        float(item)
    except Exception:  # it is no number, or has no value yet
        return None
    if isinstance(item, bool):
        return None
    dtype = str(getattr(value, "dtype", "int" if isinstance(item, int) else "float64"))
    return item, dtype.rpartition(".")[2].lower().strip("'>")


def _line(head: str, number: Number) -> str:
    value, dtype = number
    # the bulk: making the text by hand costs a third
    if type(value) is float and value - value == 0.0 and dtype in _USUAL:
        return '%s,"v":%r,"d":"%s"}\n' % (head, value, dtype)
    event = {"v": finite(float(value)), "d": dtype}
    exact = exact_text(value)
    if exact:
        event["x"] = exact
    return "%s,%s\n" % (head, json_text.dumps(event)[1:])


def _step(step: Any) -> float | None:
    """Return the step on a tracker's axis as a float; None if it is no finite number.

    The step may be given as a tensor.
    """
    if step is None or isinstance(step, (bool, str)):
        return None
    try:
        place = float(step)
    except Exception:  # whatever a script gives a tracker
        return None
    if place - place != 0.0:
        return None
    return place


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
