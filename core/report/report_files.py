"""A report as files, all of them or none: in its formats, or as a folder of pages that any file server shows.

A report in GitHub's Markdown and in LaTeX, of booktabs and longtable; every character of the data is escaped.
"""

import io
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from pathlib import Path

import pandas as pd

from core.analysis.scope import Narrowed
from core.charts.still import drawings
from core.errors import InvalidInput
from core.features.human.studies import Study
from core.report.document import (
    CAUTIONS,
    CITE,
    DATA,
    FIGURE,
    FILE,
    FORMATS,
    LACKS,
    METHODS,
    TABLES,
    WORDS,
    Report,
    Table,
    cells,
    headlines,
    of_paper,
)
from core.report.fairness_card import card_report
from core.report.html import STYLE, html, page, story_html
from core.report.opening_words import METHODS as HOW
from core.report.pair_slides import cards, furthest
from core.store.store import Store
from core.store.text_files import csv_text
from core.writing import write_folder_whole

_MARKS = re.compile(r"([\\`*_\[\]<>|#~$])")


def markdown(report: Report) -> str:
    """Write the document; its figure is a link to ``figures/ID.svg``."""
    lines = [f"# {markdown_escaped(report.title)}"]
    if (said := report.opening) is not None:
        lines += [f"## {WORDS}", *map(markdown_escaped, said.audited)]
        for name, sentences in said.evaluators.items():
            lines.append(f"**{markdown_escaped(name)}.** {markdown_escaped(' '.join(sentences))}")
        lines += [f"### {CAUTIONS}", "\n".join(f"- {markdown_escaped(each)}" for each in said.cautions)]
    if report.plane is not None:
        each = report.plane
        lines += [f"## {FIGURE}", _markdown_heading(each.id, each.title, each.paper)]
        lines += [f"![{markdown_escaped(each.title)}](figures/{each.id}.svg)", markdown_escaped(each.note)]
    lines += [f"## {TABLES}", *map(markdown_table, report.short)] if report.short else []
    lines += [f"## {METHODS}", *map(markdown_escaped, (*HOW, *report.methods))]
    if report.lacks:
        lines += [f"## {LACKS}", "\n".join(f"- {markdown_escaped(each)}" for each in report.lacks)]
    about = "\n".join(f"- **{name}:** {markdown_escaped(told)}" for name, told in report.about.items())
    lines += [f"## {CITE}", f"`{report.signature}`", about, markdown_escaped(DATA)]
    return "\n\n".join(lines) + "\n"


def markdown_table(each: Table) -> str:
    """Write one table with its heading and note.

    Example:
        ``### T3 · Vertical flips … (paper A, Table 3)``
    """
    headers = [markdown_escaped(column.header) for column in each.columns]
    ruler = [":--" if column.kind == "text" else "--:" for column in each.columns]
    rows = [[markdown_escaped(cell) for cell in row] for row in cells(each)]
    lines = [f"| {' | '.join(row)} |" for row in (headers, ruler, *rows)]
    heading = _markdown_heading(each.id, each.title, each.paper)
    return "\n".join([heading, "", *lines, "", markdown_escaped(each.note)])


def markdown_escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line, with no cell border in it.

    Example:
        >>> markdown_escaped("a|b *c*")
        'a\\\\|b \\\\*c\\\\*'
    """
    return _MARKS.sub(r"\\\1", " ".join(str(text).split()))


def _markdown_heading(name: str, title: str, paper: str) -> str:
    return f"### {name} · {markdown_escaped(title)}" + (f" ({markdown_escaped(of_paper(paper))})" if paper else "")


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "|": r"$|$",
    "✓": r"$\surd$", "√": r"$\surd$", "✗": r"$\times$",
    "−": r"$-$", "→": r"$\rightarrow$", "±": r"$\pm$", "·": r"$\cdot$", "×": r"$\times$", "≥": r"$\ge$", "≤": r"$\le$",
    "Δ": r"$\Delta$", "δ": r"$\delta$", "λ": r"$\lambda$", "β": r"$\beta$", "ρ": r"$\rho$", "τ": r"$\tau$",
    "χ": r"$\chi$", "ε": r"$\varepsilon$", "₁": r"$_1$", "²": r"$^2$", "³": r"$^3$", "⁻": r"$^-$", "°": r"$^\circ$",
    "—": "---", "–": "--", "’": "'", "“": "``", "”": "''", "…": r"\dots{}", "\u00a0": "~",
}  # fmt: skip

_OPENING = r"""\documentclass[10pt,a4paper,landscape]{article}
\usepackage{iftex}
\ifPDFTeX\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\fi
\usepackage[margin=1.5cm]{geometry}
\usepackage{booktabs,longtable,graphicx,hyperref}
\setlength{\LTleft}{0pt}
\setlength{\tabcolsep}{4pt}
\setlength{\parindent}{0pt}
\newcommand{\paper}[1]{ {\normalfont\small (#1)}}
"""


def latex(report: Report) -> str:
    """Write the document; its figure is ``figures/ID.pdf``."""
    lines = [_OPENING, rf"\title{{{latex_escaped(report.title)}}}", r"\date{}", r"\begin{document}", r"\maketitle"]
    if (said := report.opening) is not None:
        lines += [rf"\section*{{{WORDS}}}", *_paragraphs(said.audited)]
        for name, sentences in said.evaluators.items():
            told = rf"\textbf{{{latex_escaped(name)}.}} {latex_escaped(' '.join(sentences))}"
            lines += [told, "", r"\medskip"]
        lines += [rf"\subsection*{{{CAUTIONS}}}", *_items(map(latex_escaped, said.cautions))]
    if report.plane is not None:
        each = report.plane
        look = r"width=\linewidth,height=0.75\textheight,keepaspectratio"
        lines += [rf"\section*{{{FIGURE}}}", _latex_heading(each.id, each.title, each.paper)]
        lines += [rf"\includegraphics[{look}]{{figures/{each.id}.pdf}}", "", _latex_note(each.note), ""]
    if report.short:
        lines += [rf"\section*{{{TABLES}}}", *(part for each in report.short for part in (latex_table(each), ""))]
    lines += [rf"\section*{{{METHODS}}}", *_paragraphs((*HOW, *report.methods))]
    if report.lacks:
        lines += [rf"\section*{{{LACKS}}}", *_items(map(latex_escaped, report.lacks))]
    about = (rf"\textbf{{{latex_escaped(name)}:}} {latex_escaped(told)}" for name, told in report.about.items())
    # a line of a hundred characters without a blank: let it break after each field
    signed = r"\allowbreak ".join(latex_escaped(part) for part in re.split(r"(?<=\|)", report.signature))
    lines += [rf"\section*{{{CITE}}}", rf"\texttt{{\small {signed}}}", "", *_items(about)]
    return "\n".join([*lines, latex_escaped(DATA), r"\end{document}", ""])


def _paragraphs(texts: Iterable[str]) -> list[str]:
    return [part for each in texts for part in (latex_escaped(each), "", r"\medskip")]


def _items(texts: Iterable[str]) -> list[str]:
    return [r"\begin{itemize}", *(rf"\item {each}" for each in texts), r"\end{itemize}"]


def latex_table(each: Table) -> str:
    """Write one table with its heading and note; it breaks over pages."""
    places = "".join("l" if column.kind == "text" else "r" for column in each.columns)
    head = " & ".join(latex_escaped(column.header) for column in each.columns) + r" \\"
    rows = [" & ".join(latex_escaped(cell) for cell in row) + r" \\" for row in cells(each)]
    lines = [_latex_heading(each.id, each.title, each.paper), r"{\small"]
    lines += [rf"\begin{{longtable}}{{@{{}}{places}@{{}}}}", r"\toprule", head, r"\midrule", r"\endhead"]
    lines += [r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}}", _latex_note(each.note)]
    return "\n".join(lines)


def latex_escaped(text: str) -> str:
    r"""Return text that LaTeX typesets as it is; what it has no command for stays (XeLaTeX and LuaLaTeX set it).

    Example:
        >>> latex_escaped("50 % of a_b")
        '50 \\% of a\\_b'
    """
    return "".join(_SPECIAL.get(character, character) for character in " ".join(str(text).split()))


def _latex_heading(name: str, title: str, paper: str) -> str:
    said = rf"\paper{{{latex_escaped(of_paper(paper))}}}" if paper else ""
    return rf"\subsection*{{{name} $\cdot$ {latex_escaped(title)}{said}}}"


def _latex_note(note: str) -> str:
    return rf"{{\footnotesize {latex_escaped(note)}\par}}"


def write(report: Report, folder: Path, *, formats: tuple[str, ...] = tuple(FORMATS)) -> list[Path]:
    """Write a report, its figure as the formats need it, every figure that it holds, and the data behind both.
    ``folder``: made where it is not there; files of the same names are replaced. ``formats``: of ``md``, ``html``,
    ``latex``. Raises InvalidInput for a format that is not known; StoreError if the folder cannot be written; it is as
    it was then."""
    return [folder / name for name in write_folder_whole(folder, partial(fill_report, report, formats=formats))]


def fill_report(report: Report, folder: Path, *, formats: tuple[str, ...]) -> list[str]:
    """Fill a folder that nobody reads yet as :func:`write` does; return the paths below it of the files. Raises
    InvalidInput for a format that is not known; OSError if one cannot be written."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise InvalidInput(f"formats are {', '.join(FORMATS)}, got {', '.join(unknown) or 'none'}")
    kinds = list(dict.fromkeys({"md": "svg", "html": "svg", "latex": "pdf"}[name] for name in formats))
    one = () if report.plane is None else (report.plane,)  # the document's figure, then those that were asked for
    every = (*one, *(each for each in report.figures if each.id not in {own.id for own in one}))
    pictures = {each.id: drawings(each, kinds=kinds) for each in every}
    plane = pictures.get(report.plane.id, {}).get("svg") if report.plane is not None else None
    texts: dict[str, Callable[[Report], str]] = {"md": markdown, "html": partial(html, drawn=plane), "latex": latex}
    written = [put(folder, FORMATS[name], texts[name](report)) for name in formats]
    for id_, drawn in pictures.items() if set(formats) - {"html"} else ():
        written += [put(folder, f"figures/{id_}.{kind}", found) for kind, found in drawn.items()]
    return [*written, *fill_data(report, folder / "data")]


def fill_data(report: Report, folder: Path) -> list[str]:
    """Write every table as CSV and Parquet, the data of the figures that were asked for as CSV, what each is in one
    line of ``INDEX.md``, how to read it in ``NOTES.md``, and the headline numbers as JSON; return the paths below the
    folder above."""
    names, lines = list[str](), list[str]()
    for each in (*report.tables, *report.details):
        names += [put(folder, f"{each.id}.csv", csv_text(each.frame, digits=10))]
        names += [put(folder, f"{each.id}.parquet", parquet(each.frame))]
        lines.append(_line(each.id, each.title, str(len(each.frame)), f"{each.id}.csv, {each.id}.parquet"))
    for drawn in report.figures:
        names.append(put(folder, f"{drawn.id}-marks.csv", csv_text(drawn.data, digits=10)))
        lines.append(_line(drawn.id, f"Marks of the figure: {drawn.title}", str(len(drawn.frame)), names[-1]))
    lines += [_line(id_, title, "", "with --tables all") for id_, title in report.unmade.items()]
    head = ("| id | title | rows | files |", "| :-- | :-- | --: | :-- |")
    names.append(put(folder, "INDEX.md", "\n".join(["# Tables", "", *head, *lines, ""])))
    names.append(put(folder, "NOTES.md", _notes(report)))
    names.append(put(folder, FILE, headlines(report).model_dump_json()))
    return [f"{folder.name}/{name}" for name in names]


def _line(*cells: str) -> str:
    return f"| {' | '.join(map(markdown_escaped, cells))} |"


def _notes(report: Report) -> str:
    """How to read each table, and why others are not there, with what would change it."""
    parts = ["# How to read the tables", ""]
    for each in (*report.tables, *report.details):
        parts += [f"**{each.id}**: {markdown_escaped(each.note)}", ""]
    reasons = dict[str, list[str]]()
    for lack in report.missing:
        reasons.setdefault(lack.reason, []).append(lack.id)
    parts += ["# What these runs cannot give", ""] if reasons else []
    parts += [f"- {', '.join(ids)}: {markdown_escaped(why)}" for why, ids in reasons.items()]
    return "\n".join([*parts, ""])


def parquet(frame: pd.DataFrame) -> bytes:
    """A table as a Parquet file; a column of more than one kind of value as text."""
    mixed = [name for name in frame.columns if frame[name].dtype == object]
    texts = {name: frame[name].map(lambda value: None if pd.isna(value) else str(value)) for name in mixed}
    buffer = io.BytesIO()
    frame.assign(**texts).reset_index(drop=True).to_parquet(buffer, index=False, compression="zstd")
    return buffer.getvalue()


def put(folder: Path, name: str, content: str | bytes) -> str:
    """Write one file of a folder that nobody reads yet; return its path below the folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace"))
    return name


_ABOUT = (
    "The items that change the most, each by its furthest pair, by |Δ| over the standard deviation of the "
    "evaluator’s unedited scores."
)

_FOLDER_DRAWN = (
    "One comparison of every family, drawn by a seed among those that most evaluators scored, whatever these made of "
    "it. The baseline is the right side; a score that does not fall did not see that the meaning broke. An example "
    "proves nothing; the rates do."
)

MOST = 24  # Pairs on the page of failures


def write_folder(
    store: Store,
    scope: Narrowed,
    report: Report,
    folder: Path,
    *,
    most: int = MOST,
    studies: Sequence[Study] = (),
    say: Callable[[str], None] = print,
) -> list[Path]:
    """Write ``index.html``, ``report.html`` with its data, ``card.html``, ``failures.html`` and, where a meaning was
    broken, ``examples.html``; ``studies``: whose votes say which words people accept; ``say``: told what cannot be
    written, in a sentence. Raises StoreError if the folder cannot be written; it is as it was then."""

    def fill(made: Path) -> list[str]:
        written = fill_report(report, made, formats=("html",))
        parts = {"report.html": "What was found, on a page; the papers' tables; the data behind both"}
        try:
            written.append(put(made, "card.html", card_report(store, scope, studies=studies)))
            parts["card.html"] = "The fairness card: the worst edits of every evaluator, to print"
        except InvalidInput as error:
            say(f"the card is left out: {error}")
        told = furthest(store, scope, most=most, studies=studies)
        if told.slides:
            written.append(put(made, "failures.html", story_html(told, about=_ABOUT)))
            parts["failures.html"] = f"The {len(told.slides)} items that change the most, with their pictures"
        shown = cards(store, scope)
        if shown.slides:
            written.append(put(made, "examples.html", story_html(shown, about=_FOLDER_DRAWN)))
            one = "One comparison of every family that breaks the meaning"
            parts["examples.html"] = f"{one}, {len(shown.slides)}, with their pictures"
        links = "".join(f'<li><a href="{escape(name)}">{escape(said)}</a></li>' for name, said in parts.items())
        left_out = "".join(f"<p>{escape(sentence)}</p>" for sentence in scope.left_out)
        body = f"<h1>{escape(report.title)}</h1><ul>{links}</ul>{left_out}<code>{escape(report.signature)}</code>"
        return [*written, put(made, "index.html", page(report.title, body, style=STYLE))]

    return [folder / name for name in write_folder_whole(folder, fill)]
