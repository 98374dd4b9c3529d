"""What some runs say as a folder of pages that any file server shows: report, card, and what moves the furthest."""

from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path

from core.analysis.scope import Narrowed
from core.errors import InvalidInput
from core.report.card import card_report
from core.report.examples import cards
from core.report.failures import furthest
from core.report.html import STYLE, page
from core.report.model import Report
from core.report.story import story_html
from core.report.write import fill_report, put
from core.store.store import Store
from core.writing import write_folder_whole

_ABOUT = (
    "The items that move the furthest, each by its furthest pair, by |Δ| over the standard deviation of the "
    "evaluator’s clean scores."
)

_DRAWN = (
    "One comparison of every family, drawn by a seed among those that most evaluators scored, whatever these made of "
    "it. The baseline is the right side; a score that does not fall did not see that the meaning broke. An example "
    "proves nothing; the rates do."
)

MOST = 24
"""Pairs on the page of failures."""


def write_folder(
    store: Store, scope: Narrowed, report: Report, folder: Path, *, most: int = MOST,
    say: Callable[[str], None] = print,
) -> list[Path]:  # fmt: skip
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
        written.append(put(folder, "examples.html", story_html(shown, about=_DRAWN)))
        parts["examples.html"] = (
            f"One comparison of every family that breaks the meaning, {len(shown.slides)}, with their pictures"
        )
    return [*written, put(folder, "index.html", _index(report, scope, parts))]


def _index(report: Report, scope: Narrowed, parts: dict[str, str]) -> str:
    links = "".join(f'<li><a href="{escape(name)}">{escape(said)}</a></li>' for name, said in parts.items())
    left_out = "".join(f"<p>{escape(sentence)}</p>" for sentence in scope.left_out)
    body = f"<h1>{escape(report.title)}</h1><ul>{links}</ul>{left_out}<code>{escape(report.signature)}</code>"
    return page(report.title, body, style=STYLE)
