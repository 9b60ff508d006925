"""Gradients of weights that FSDP shards: those of the rank itself, before they are reduced.

A hook of the sharded weight is called with the reduced gradient, which is recorded before the
update anyway. What the backward pass of a rank has made hangs on the unsharded weight, which stands
in for it during a call.
"""

from typing import Any, Iterator

_NOT_WHOLE = (
    "reduced gradients of sharded weights",
    "each rank holds its part of the sum alone, so the ranks are not compared with each other",
)


class Sharded:
    """Watches the unsharded weights once there are any: after the first call of the outermost
    module.
    """

    def __init__(self, deep: Any, names: Any, gradients: Any) -> None:
        self.deep = deep
        self.names = names
        self.gradients = gradients

    def watch(self, root: Any) -> None:
        """The outermost module has returned."""
        try:
            for parameter in _parameters(root):
                whole, name = (
                    getattr(parameter, "_unsharded_param", None),
                    self.names.name(parameter.sharded_param),
                )
                if (
                    whole is not None
                    and name
                    and self.gradients.unwatch_weight(parameter.sharded_param)
                ):
                    self.gradients.watch_weight(whole, name)
                    self.deep.unrecorded(*_NOT_WHOLE)
        except Exception as error:
            self.deep.unrecorded(
                "sharded weights",
                "gradients before they are reduced could not be watched: " + repr(error),
            )


def _parameters(root: Any) -> Iterator[Any]:
    """What FSDP keeps of each weight that it shards."""
    for module in root.modules():
        state = module._get_fsdp_state() if hasattr(module, "_get_fsdp_state") else None
        if state is None:
            continue
        groups = getattr(state, "_fsdp_param_groups", None)
        for group in [state._fsdp_param_group] if groups is None else groups:
            yield from group.fsdp_params if group is not None else ()
