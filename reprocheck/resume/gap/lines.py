"""The lines of the script that a mechanism is about, each with what happens there. The first one
leads: it saves or loads what is lost, or is the one at which that should be saved.
"""

from __future__ import annotations

from reprocheck.resume.gap.archive import Provenance
from reprocheck.resume.gap.evidence import BatchGap, CounterGap, Gap, GeneratorGap
from reprocheck.resume.gap.source import Trees, asked_for, counted_at, loop_of
from reprocheck.resume.model import Archive, Role

Line = tuple[Role, str]


def lines_of(
    gap: Gap, origin: Provenance, archive: Archive, saved_at: str, trees: Trees
) -> list[Line]:
    """Return the lines of a gap, the leading one first.

    saved_at  the line that saved the checkpoint, if the content of the checkpoint is unknown
    trees     the syntax trees of the files of the script
    """
    saves: Line = ("saves", archive.saving[0].line if archive.saving else saved_at)
    reading = archive.reading[0].line if archive.reading else ""
    reads: Line = ("reads", archive.opened.get(origin.file, reading))
    generator = gap.generator if isinstance(gap, BatchGap) else gap
    lines: list[Line] = []
    # in front of those that save and read the checkpoint
    if isinstance(generator, GeneratorGap):
        if generator.restored and generator.reseeded is not None:
            lines.append(("seeds", generator.reseeded.line))
        if generator.restored:
            lines.append(("puts back", generator.line))
    elif isinstance(gap, BatchGap):
        if not gap.is_passed_over_wrongly:
            lines.append(saves)
        lines.append(("passes", gap.line or loop_of(archive.training, trees)))
    elif origin.custody == "loaded":
        lines.append(("loads", origin.line))
    lines += (reads, saves) if origin.custody == "not loaded" else (saves, reads)
    if isinstance(generator, GeneratorGap) and generator.seed is not None:
        lines.append(("seeds", generator.seed.line))
    if isinstance(gap, CounterGap):
        lines.append(("counts", counted_at(gap, archive, trees)))
    if origin.custody == "not loaded":
        lines += (("asks for", line) for line in asked_for(archive, trees))
    roles: dict[str, Role] = {}
    for role, line in lines:
        if line:
            roles.setdefault(line, role)
    return [(role, line) for line, role in roles.items()]
