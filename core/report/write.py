"""A report as files in a folder, all of them or none."""

from contextlib import nullcontext
from pathlib import Path

from core.charts.drawing_process import Drawings
from core.charts.spec import Figure
from core.errors import InvalidInput
from core.report.html import html
from core.report.latex import latex
from core.report.markdown import markdown
from core.report.model import FORMATS, Report, Table
from core.store.files import csv_text
from core.writing import write_folder_whole

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
        StoreError: if the folder cannot be written; it is as it was then.
    """

    def fill(new: Path) -> list[str]:
        return fill_report(report, new, formats=formats, interactive=interactive, drawings=drawings)

    return [folder / name for name in write_folder_whole(folder, fill)]


def fill_report(
    report: Report, folder: Path, *, formats: tuple[str, ...], interactive: bool = True,
    drawings: Drawings | None = None,
) -> list[str]:  # fmt: skip
    """Fill a folder that nobody reads yet as :func:`write` does; return the paths below it of the files.

    Raises:
        InvalidInput: for a format that is not known.
        OSError: if one cannot be written.
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
        written = [put(folder, FORMATS[name], texts[name]()) for name in formats]
        data = [_data(one, folder) for one in everything]
        for each in report.figures:
            written += [put(folder, f"figures/{each.id}.{kind}", found) for kind, found in made.of(each).items()]
    return written + data


def put(folder: Path, name: str, content: str | bytes) -> str:
    """Write one file of a folder that nobody reads yet; return its path below the folder."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
    return name


def _data(each: Table | Figure, folder: Path) -> str:
    frame = each.data if isinstance(each, Figure) else each.frame
    return put(folder, f"data/{each.id}.csv", csv_text(frame, digits=10))
