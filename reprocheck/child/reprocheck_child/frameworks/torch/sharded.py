"""Records a rank's own gradients of weights that FSDP shards, before they are reduced.

A hook of the sharded weight is called with the reduced gradient, which is recorded before the
update anyway. What the backward pass of a rank has made hangs on the unsharded weight, which stands
in for it during a call.
"""

from typing import Any, Iterator, List

_NOT_WHOLE = (
    "reduced gradients of sharded weights",
    "each rank holds its part of the sum alone, so the ranks are not compared with each other",
)


class Sharded:
    """The hooks of the unsharded weights, set after the first call of the outermost module."""

    def __init__(self, deep: Any, names: Any, gradients: Any) -> None:
        self.deep = deep
        self.names = names
        self.gradients = gradients

    def watch(self, root: Any) -> None:
        """Set hooks on the unsharded weights once the outermost module has returned."""
        try:
            for parameter in _parameters(root):
                self._watch_whole(parameter)
        except Exception as error:
            self.deep.unrecorded(
                "sharded weights",
                "gradients before they are reduced could not be watched: " + repr(error),
            )

    def _watch_whole(self, parameter: Any) -> None:
        # made by the first gathering of the weight (`init_unsharded_param`), and kept from then on
        unsharded = getattr(parameter, "_unsharded_param", None)
        name = self.names.name(parameter.sharded_param)
        if unsharded is None or not name:
            return
        if self.gradients.unwatch_weight(parameter.sharded_param):
            self.gradients.watch_weight(unsharded, name)
            self.deep.unrecorded(*_NOT_WHOLE)


def _parameters(root: Any) -> Iterator[Any]:
    """Yield FSDP's parameter objects of the weights that it shards."""
    for module in root.modules():
        # `fully_shard` changes the class of a module to a subclass of FSDPModule, which has this
        find = getattr(module, "_get_fsdp_state", None)
        if find is not None:
            for group in _groups(find()):
                yield from group.fsdp_params


def _groups(state: Any) -> List[Any]:
    """Return FSDP's parameter groups of a module: weights that are sharded together."""
    # A module has several groups since it can shard weights over different meshes. Newer versions
    # keep the name of the one group as a property that raises where there are several; older ones
    # have that alone, and it is None in a module that shards nothing itself.
    groups = getattr(state, "_fsdp_param_groups", None)
    if groups is None:
        groups = [getattr(state, "_fsdp_param_group", None)]
    return [group for group in groups if group is not None]
