"""A real Ray cluster of two nodes for the tests. Tests that use it share one worker of
pytest-xdist: it takes ten seconds to come up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

GROUP = "ray"
"""The `xdist_group` of all tests that use the cluster."""
MEMORY = 80 * 1024 * 1024
"""Of a node's object store, in bytes: the least that Ray takes."""


@dataclass
class Nodes:
    """The cluster, and the node that has a device."""

    cluster: Any
    with_device: Any

    @property
    def address(self) -> str:
        """Of the cluster, as `--address` takes it."""
        return str(self.cluster.address)

    def kill(self) -> None:
        """Kills the node as a power cut would, and brings up another one."""
        self.cluster.remove_node(self.with_device, allow_graceful=False)
        self.with_device = _node(self.cluster)


@contextmanager
def cluster() -> Iterator[Nodes]:
    """A new cluster, ended when the block ends."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 1, "object_store_memory": MEMORY, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    try:
        yield Nodes(made, _node(made))
    finally:
        made.shutdown()


def _node(made: Any) -> Any:
    return made.add_node(num_cpus=1, resources={"NPU": 1}, object_store_memory=MEMORY)
