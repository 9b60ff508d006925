"""What stands before the training: files, hyper-parameters, initial weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reprocheck.explain.suspects.data import origins
from reprocheck.explain.suspects.generators import by_seeds
from reprocheck.explain.suspects.look import PRIVATE, Look, Suspect, by_hint, capital, line, of_hint, unseeded


def files(look: Look) -> Iterator[Suspect]:
    """State that a run left, or other inputs."""
    left = [path for path in look.check.state_left if path]
    if left:
        shown = ", ".join(left[:5]) + (f" and {len(left) - 5} more" if len(left) > 5 else "")
        yield Suspect(name="state-left", evidence=(f"Run 1 wrote {shown}; a later run read it before it wrote it itself.",))
    else:
        yield Suspect(name="changing-input")


def hyper_parameters(look: Look) -> Iterator[Suspect]:
    """Values that are computed or drawn."""
    if str(look.rung.place).endswith(".params"):
        yield from origins(look)
    clock, draw = look.hint("clock", "entropy", "identity"), look.hint("draw")
    if draw and not clock:
        yield by_hint("random-hyper-parameter", draw, "draws a number")
    yield by_hint("drifting-hyper-parameter", clock, "reads the clock or the system")


def weights(look: Look) -> Iterator[Suspect]:
    """By the states of the generators when the weight was made."""
    missing = look.fact("missing_from_checkpoint")
    if missing:
        yield Suspect(name="partial-checkpoint", evidence=(f"{capital(str(missing))} did not hold it.",))
    if look.names("generators"):
        yield from by_seeds(look, unseeded="unseeded-weights", late="seed-after-model")
    elif look.fact("states_known", look.fact("generators") is not None):
        yield from _unfilled(look)
    else:
        yield from _without_states(look)


def _unfilled(look: Look) -> Iterator[Suspect]:
    """The generators stood the same: nobody filled the weight, or something private did."""
    here = look.code.on(look.rung.source, "memory", "entropy", "clock", "identity")
    memory, private = (here, None) if here and here.kind == "memory" else (None, here)
    odd = bool(look.fact("non_finite") or look.fact("denormal_or_huge"))
    unfilled = Suspect(
        name="uninitialised-memory",
        confidence="observed" if memory or odd else "suspected",
        evidence=tuple(
            sentence
            for sentence, holds in (
                ("The default generators stood the same when it was made, so none of them made the difference.", True),
                ("It holds values that are not finite, or huge or tiny as left-over memory often is.", odd),
                (line(memory, "makes a tensor without filling it") if memory else "", memory is not None),
            )
            if holds
        ),
        source=memory.source if memory else None,
    )
    drawn = private or (None if memory else look.hint("entropy"))
    what = "draws from the system, from a generator without a seed, or from the clock"
    own = by_hint("private-initialiser", drawn, what, "observed" if private and not memory else "suspected")
    if memory or odd:
        yield from (unfilled, own) if drawn else (unfilled,)
    else:
        yield from unseeded("unseeded-weights", look.unseeded_draw())
        yield from (own, *origins(look), unfilled) if private else (*origins(look), unfilled, own)


def _drawn_too_early(look: Look, early: object) -> Iterator[Suspect]:
    """Weights of which no state is known, and a generator that was seeded only after something had drawn from it."""
    seeds = early if isinstance(early, Mapping) else {}
    said = tuple(f"{capital(str(name))} was drawn from before {seed or 'the script'} seeds it." for name, seed in seeds.items())
    made = look.code.assigned(look.rung.place or "")
    yield Suspect(name="seed-after-model", evidence=said, source=made or look.rung.source)
    yield Suspect(name="private-initialiser", confidence="suspected", evidence=of_hint(look.hint("entropy"), PRIVATE))


def _without_states(look: Look) -> Iterator[Suspect]:
    """Frameworks whose generators cannot be read: by the seeds that the script set."""
    clock = look.hint("clock", "entropy", "identity")
    if early := look.fact("drawn_before_seed"):
        yield from _drawn_too_early(look, early)
    elif look.names("seeded_by"):
        yield from by_seeds(look, unseeded="unseeded-weights", late="seed-after-model")
        yield Suspect(name="private-initialiser", confidence="suspected", evidence=of_hint(clock, "reads the system or the clock"))
    elif "jax" in look.frameworks and clock:
        yield Suspect(name="clock-seed", evidence=(line(clock, "reads the system or the clock"),), source=clock.source)
    else:
        yield Suspect(name="unseeded-weights", evidence=("The script seeded no generator before it.",))
