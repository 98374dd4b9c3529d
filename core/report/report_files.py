"""A report as files, all of them or none: in its formats, or as a folder of pages that any file server shows."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from html import escape
from pathlib import Path

from core.analysis.scope import Narrowed
from core.charts.drawing_process import Drawings
from core.charts.spec import Figure
from core.errors import InvalidInput
from core.report.document import FORMATS, Report, Table
from core.report.fairness_card import card_report
from core.report.html import STYLE, html, page, story_html
from core.report.markup import latex, markdown
from core.report.pair_slides import cards, furthest
from core.store.store import Store
from core.store.text_files import csv_text
from core.writing import write_folder_whole

_DRAWN = {"md": "svg", "latex": "pdf"}
"""Format -> kind of drawing that its figures are."""


def drawings_for(formats: tuple[str, ...]) -> Drawings:
    """Drawings of the kinds that the figures of some formats are; none is begun."""
    return Drawings([_DRAWN[name] for name in formats if name in _DRAWN])


def write(
    report: Report,
    folder: Path,
    *,
    formats: tuple[str, ...] = tuple(FORMATS),
    interactive: bool = True,
    drawings: Drawings | None = None,
) -> list[Path]:
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
    report: Report,
    folder: Path,
    *,
    formats: tuple[str, ...],
    interactive: bool = True,
    drawings: Drawings | None = None,
) -> list[str]:
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


_ABOUT = (
    "The items that move the furthest, each by its furthest pair, by |Δ| over the standard deviation of the "
    "evaluator’s clean scores."
)

_FOLDER_DRAWN = (
    "One comparison of every family, drawn by a seed among those that most evaluators scored, whatever these made of "
    "it. The baseline is the right side; a score that does not fall did not see that the meaning broke. An example "
    "proves nothing; the rates do."
)

MOST = 24
"""Pairs on the page of failures."""


def write_folder(
    store: Store,
    scope: Narrowed,
    report: Report,
    folder: Path,
    *,
    most: int = MOST,
    say: Callable[[str], None] = print,
) -> list[Path]:
    """Write ``index.html``, ``report.html`` with its data, ``card.html``, ``failures.html`` and, where a meaning
    was broken, ``examples.html``.

    Args:
        store: opened runs.
        scope: whose scores.
        report: of the same scores.
        folder: made where it is not there.
        most: pairs on the page of failures.
        say: told what cannot be written, in a sentence.

    Returns:
        The files written.

    Raises:
        StoreError: if the folder cannot be written; it is as it was then.
    """
    return [folder / name for name in write_folder_whole(folder, partial(_fill, store, scope, report, most, say))]


def _fill(
    store: Store, scope: Narrowed, report: Report, most: int, say: Callable[[str], None], folder: Path
) -> list[str]:
    written = fill_report(report, folder, formats=("html",))
    parts = {"report.html": "Every table and figure, with n, intervals and tests"}
    try:
        written.append(put(folder, "card.html", card_report(store, scope)))
        parts["card.html"] = "The fairness card: the worst edits of every evaluator, to print"
    except InvalidInput as error:
        say(f"the card is left out: {error}")
    told = furthest(store, scope, most=most)
    if told.slides:
        written.append(put(folder, "failures.html", story_html(told, about=_ABOUT)))
        parts["failures.html"] = f"The {len(told.slides)} items that move the furthest, with their pictures"
    shown = cards(store, scope)
    if shown.slides:
        written.append(put(folder, "examples.html", story_html(shown, about=_FOLDER_DRAWN)))
        parts["examples.html"] = (
            f"One comparison of every family that breaks the meaning, {len(shown.slides)}, with their pictures"
        )
    return [*written, put(folder, "index.html", _index(report, scope, parts))]


def _index(report: Report, scope: Narrowed, parts: dict[str, str]) -> str:
    links = "".join(f'<li><a href="{escape(name)}">{escape(said)}</a></li>' for name, said in parts.items())
    left_out = "".join(f"<p>{escape(sentence)}</p>" for sentence in scope.left_out)
    body = f"<h1>{escape(report.title)}</h1><ul>{links}</ul>{left_out}<code>{escape(report.signature)}</code>"
    return page(report.title, body, style=STYLE)
