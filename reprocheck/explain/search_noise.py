"""What remains where no control makes the runs agree: by name, as far as the ladder and the lists of operators know it."""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.explain.search import Found
from reprocheck.explain.search_arms import Book
from reprocheck.model import Check, Rung
from reprocheck.rules import known


def remaining(check: Check, found: Found, book: Book) -> str:
    """One or more sentences."""
    rung = check.ladder.first_rung if check.ladder else None
    tried = "None of the controls makes the runs agree, alone or together"
    crashing = " and ".join(f"`{name}`" for name in found.crashing)
    left_out = f" ({crashing} left out, since the script fails under it)" if crashing else ""
    if not found.complete:
        return (
            f"No control was seen to make the runs agree{left_out}. The difference comes and goes, so few were tried: --runs N tries more."
        )
    if rung is None:
        return f"{tried}{left_out}. Nothing recorded differs, so what makes the difference cannot be recorded."
    if rung.size == "rounding" or _operators(check, rung):
        return f"{tried}{left_out}: what remains is noise of an operator or of the hardware. {_noise(check, rung)}"
    where = f" It first shows on the rung {rung.rung}" + (f" at `{rung.place}`." if rung.place else ".")
    made = f" It is made by {rung.culprit}." if rung.culprit else ""
    return (
        f"{tried}{left_out}: the difference is made by something that no control reaches, such as a service, a native library that "
        f"draws by itself, a race of threads, or the hardware.{where}{made}"
    )


def _noise(check: Check, rung: Rung) -> str:
    """The operator, from the ladder and the lists."""
    named = rung.culprit or (f"`{rung.facts['operator']}`" if rung.facts.get("operator") else "")
    place = f"`{rung.place}`" if rung.place else "the loss"
    made = f"It is made by {named}, first" if named else "It is first"
    made = f"{made} seen at {place} on the rung {rung.rung}."
    return " ".join([made, *dict.fromkeys(_operators(check, rung))][:4])


def _operators(check: Check, rung: Rung) -> list[str]:
    """What the lists say of the operators that the rung names."""
    facts: Mapping[str, object] = rung.facts
    names: list[str] = []
    for fact in ("operator", "node", "nodes_between", "classes_between", "class"):
        value = facts.get(fact)
        names += [value] if isinstance(value, str) else [str(one) for one in value] if isinstance(value, list | tuple) else []
    device = str(facts.get("device") or "cpu").lower().partition(":")[0].replace("ascend", "npu").replace("gpu", "cuda")
    frameworks = [name for run in check.runs[:1] for name in run.frameworks]
    backward = rung.rung in ("gradient", "reduced gradient")
    return [one.sentence for name in names for one in known(name, device=device, backward=backward, frameworks=frameworks)]
