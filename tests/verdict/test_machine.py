"""Which series are a clock's or a machine's, by the words of their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.verdict import machine
from reprocheck.verdict.machine import is_of_a_machine

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "series.md"
OF_A_MACHINE = {
    "transformers": ("train_runtime", "eval_samples_per_second", "train_mem_gpu_alloc_delta"),
    "lightning": (
        "DeviceStatsMonitor.on_train_batch_start/active.all.allocated",
        "train|device/samples_per_sec",
        "train|time",
    ),
    "megatron": ("iteration-time", "mem-allocated-count", "optimizer-clip-main-grad-time"),
    "torchtitan": (
        "throughput(tps)",
        "mfu(%)",
        "time_metrics/data_loading(%)",
        "memory/num_alloc_retries",
    ),
    "mlflow": (
        "system/gpu_0_power_usage_watts",
        "system/disk_usage_percentage",
        "system/network_receive_megabytes",
    ),
    "scripts": (
        *("step_time", "time/loss", "tokens/s", "samplesPerSecond", "max_active(GiB)"),
        *("gpu_util", "cpu_percent", "gpu_temp", "loss_time_mean", "time_per_step"),
    ),
}
OF_A_TRAINING = (
    *("val_loss/gpu0", "accuracy_cpu", "loss/time_step_3", "memory_loss", "wall_loss_epoch"),
    *("time_embedding_norm", "second_order_norm", "loss_second", "temperature", "eta"),
    *("estimated", "gpu0", "timestep", "speed_loss/rank_3", "grad_norm", "mb_size"),
)


@pytest.mark.parametrize("name", [name for names in OF_A_MACHINE.values() for name in names])
def test_a_time_a_speed_or_memory_is_a_machines(name: str) -> None:
    assert is_of_a_machine(name)


@pytest.mark.parametrize("name", OF_A_TRAINING)
def test_a_number_of_the_training_is_none_whatever_words_it_shares(name: str) -> None:
    assert not is_of_a_machine(name)


@pytest.mark.parametrize(
    "table",
    [
        machine.GROUPS,
        machine.MACHINE,
        machine.RATES,
        machine.DEVICES,
        machine.OF_A_DEVICE,
        machine.QUANTITIES,
        machine.PASSED_OVER - machine.DEVICES,
    ],
    ids=lambda table: f"{len(table)} words",
)
def test_the_page_has_every_word_of_the_tables(table: frozenset[str]) -> None:
    page = DOCS.read_text()
    assert [word for word in sorted(table) if f"`{word}`" not in page] == []
