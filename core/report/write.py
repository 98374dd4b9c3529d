"""A report as files in a folder."""

from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from core.charts.apart import Drawings
from core.charts.spec import Figure
from core.errors import InvalidInput
from core.report.html import html
from core.report.latex import latex
from core.report.markdown import markdown
from core.report.model import FORMATS, Report, Table
from core.store.files import csv_text, write_text, write_whole

_DRAWN = {"md": "svg", "latex": "pdf"}
"""Format -> kind of drawing that its figures are."""


def drawings_for(formats: tuple[str, ...]) -> Drawings:
    """Drawings of the kinds that the figures of some formats are; none is begun."""
    return Drawings([_DRAWN[name] for name in formats if name in _DRAWN])


def write(
    report: Report, folder: Path, *, formats: tuple[str, ...] = tuple(FORMATS), interactive: bool = True,
    drawings: Drawings | None = None,
) -> list[Path]:  # fmt: skip
    """Write a report, the figures that the formats need, and the data of every table and figure as CSV.

    Args:
        report: to be written.
        folder: made where it is not there; files of the same names are replaced.
        formats: of ``md``, ``html``, ``latex``.
        interactive: of the HTML's figures.
        drawings: of :func:`drawings_for` these formats, where :func:`core.report.build.build` began
            them; None: they are begun now.

    Returns:
        The files written.

    Raises:
        InvalidInput: for a format that is not known.
    """
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise InvalidInput(f"formats are {', '.join(FORMATS)}, got {', '.join(unknown) or 'none'}")
    texts = {
        "md": lambda: markdown(report),
        "html": lambda: html(report, interactive=interactive),
        "latex": lambda: latex(report),
    }
    everything: list[Table | Figure] = [*report.tables, *report.figures, *report.details]
    with nullcontext(drawings) if drawings else drawings_for(formats) as made:
        for each in report.figures:
            made.begin(each)
        # meanwhile everything else is written
        written = [_text(folder / FORMATS[name], texts[name]()) for name in formats]
        data = [_data(one, folder / "data") for one in everything]
        for each in report.figures:
            written += _figure(each, folder / "figures", made.of(each))
    return written + data


def _text(path: Path, text: str) -> Path:
    return write_text(path, text)


def _figure(each: Figure, folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    named = {folder / f"{each.id}.{kind}": content for kind, content in contents.items()}
    for path, content in named.items():
        write_whole(path, partial(_fill, content=content))
    return list(named)


def _fill(path: Path, *, content: bytes) -> None:
    path.write_bytes(content)


def _data(each: Table | Figure, folder: Path) -> Path:
    frame = each.data if isinstance(each, Figure) else each.frame
    return _text(folder / f"{each.id}.csv", csv_text(frame, digits=10))
