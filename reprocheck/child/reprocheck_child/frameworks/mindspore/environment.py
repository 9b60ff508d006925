"""Describes the settings of MindSpore that bear on numbers, as facts of the environment."""

import sys
from typing import Any, Iterator, Tuple

from ...process.environment import probed

Fact = Tuple[str, object]


def facts(mindspore: Any) -> Iterator[Fact]:
    def context(name: str) -> object:
        return mindspore.get_context(name)

    yield from probed(
        "mindspore.",
        (
            ("version", lambda: mindspore.__version__),
            ("commit", lambda: sys.modules["mindspore.version"].__dict__.get("__commit_id__")),
            (
                "mode",
                lambda: {0: "GRAPH_MODE", 1: "PYNATIVE_MODE"}.get(mindspore.get_context("mode")),
            ),
            ("device_target", lambda: context("device_target")),
            ("deterministic", lambda: context("deterministic")),
            ("jit_level", lambda: mindspore.get_context("jit_config").get("jit_level")),
            ("seed", lambda: mindspore.get_seed()),
            (
                "dataset_workers",
                lambda: sys.modules["mindspore.dataset"].config.get_num_parallel_workers(),
            ),
        ),
    )
