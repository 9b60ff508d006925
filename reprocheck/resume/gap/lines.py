"""The lines of the script that a mechanism is about, each with what happens there. The first one
leads: it saves or loads what is lost, or is the one at which that should be saved.
"""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.resume.gap.archive import Provenance
from reprocheck.resume.gap.evidence import BatchGap, CounterGap, Gap, GeneratorGap
from reprocheck.resume.gap.source import Trees, asked_for, counted_at, loop_of
from reprocheck.resume.model import Archive, Role

Line = tuple[Role, str]


def lines_of(
    gap: Gap, found: Provenance, archive: Archive, saved_at: str, trees: Trees
) -> list[Line]:
    """Return the lines of a gap. `saved_at`: the line that saved the checkpoint, where no content
    of it is known; `trees`: the files of the script.
    """
    saves: Line = ("saves", archive.saving[0].line if archive.saving else saved_at)
    reading = archive.reading[0].line if archive.reading else ""
    reads: Line = ("reads", archive.opened.get(found.file, reading))
    around = (reads, saves) if found.custody == "not loaded" else (saves, reads)
    roles: dict[str, Role] = {}
    leading = _leading(gap, found, saves, loop_of(archive.training, trees))
    besides: list[Line] = []
    generator = _generator_of(gap)
    if generator is not None and generator.seed is not None:
        besides.append(("seeds", generator.seed.line))
    if isinstance(gap, CounterGap):
        besides.append(("counts", counted_at(gap, archive, trees)))
    if found.custody == "not loaded":
        besides += (("asks for", line) for line, _ in asked_for(archive, trees))
    for role, line in (*leading, *around, *besides):
        if line:
            roles.setdefault(line, role)
    return [(role, line) for line, role in roles.items()]


def _leading(gap: Gap, found: Provenance, saves: Line, loop: str) -> Iterator[Line]:
    """Yield the lines that stand in front of those that save and read the checkpoint."""
    generator = _generator_of(gap)
    if generator is not None and generator.restored:
        if generator.reseeded is not None:
            yield "seeds", generator.reseeded.line
        yield "puts back", generator.line
    elif generator is None and isinstance(gap, BatchGap):
        if not gap.is_passed_over_wrongly:
            yield saves
        yield "passes", gap.line or loop
    elif found.custody == "loaded":
        yield "loads", found.line


def _generator_of(gap: Gap) -> GeneratorGap | None:
    if isinstance(gap, BatchGap):
        return gap.generator
    return gap if isinstance(gap, GeneratorGap) else None
