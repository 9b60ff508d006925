"""Makes one fingerprint of those of the parts that a tensor is stored as."""

from typing import Any, Callable, Dict, List, Optional, Union

from ...deep_levels import hashing, sketch

Fingerprint = Dict[str, Any]
Reading = Callable[[bool], Optional[Fingerprint]]
_TEXT = "%s %s %s %s"
"""Algorithm, hash, dtype and shape of a part."""
_OF_THE_VALUES = ("k", "z", "q", "dev")
"""Keys that a whole tensor has from its first part."""


class Combined:
    """The reading of a tensor that is stored as several parts, the values first.

    The hash covers the hashes of all parts. Norm and sketch are those of the values; the sketch is
    marked with the hash of the other parts, the structure.
    """

    def __init__(
        self,
        whole: Fingerprint,
        parts: List[Union[Fingerprint, Reading]],
        finish: Callable[[], None],
    ) -> None:
        self.whole = whole
        self.parts = parts
        self.finish = finish

    def __call__(self, wait: bool) -> Optional[Fingerprint]:
        """Return the fingerprint; None while a part has not arrived from its device."""
        self.parts = [arrived(part, wait) or part for part in self.parts]
        parts = [part for part in self.parts if isinstance(part, dict)]
        if len(parts) < len(self.parts):
            return None
        self.finish()
        whole, values = self.whole, parts[0]
        texts = [_TEXT % (part.get("a", ""), part["h"], part["d"], part["s"]) for part in parts]
        is_read = all(part["h"] for part in parts)
        whole["h"] = hashing.digest("|".join(texts).encode()) if is_read else ""
        if "a" in values:
            whole["a"] = "%s of %s" % (hashing.NAME, values["a"])
        whole.update((key, values[key]) for key in _OF_THE_VALUES if key in values)
        structure = "|".join(texts[1:])
        if "k" in values and structure and isinstance(values["z"], float):
            mark = hashing.digest(structure.encode())
            whole["k"] = sketch.marked(values["k"], values["z"] or 1.0, mark)
        return whole


def arrived(part: Union[Fingerprint, Reading], wait: bool) -> Optional[Fingerprint]:
    """Return the value of a reading; a fingerprint unchanged."""
    return part if isinstance(part, dict) else part(wait)
