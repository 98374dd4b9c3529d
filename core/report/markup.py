"""A report in GitHub's Markdown and in LaTeX, of booktabs and longtable; every character of the data is escaped."""

import re
from collections.abc import Iterable

from core.charts.spec import Figure
from core.report.document import (
    CAUTIONS,
    CITE,
    DATA,
    FIGURE,
    LACKS,
    METHODS,
    TABLES,
    WORDS,
    Opening,
    Report,
    Table,
    cells,
    of_paper,
)
from core.report.opening_words import METHODS as HOW

_MARKS = re.compile(r"([\\`*_\[\]<>|#~$])")


def markdown(report: Report) -> str:
    """Write the document; its figure is a link to ``figures/ID.svg``."""
    lines = [f"# {markdown_escaped(report.title)}", *_markdown_opening(report.opening)]
    if report.plane is not None:
        lines += [f"## {FIGURE}", _markdown_figure(report.plane)]
    lines += [f"## {TABLES}", *map(markdown_table, report.short)] if report.short else []
    lines += [f"## {METHODS}", *map(markdown_escaped, HOW)]
    if report.lacks:
        lines += [f"## {LACKS}", "\n".join(f"- {markdown_escaped(each)}" for each in report.lacks)]
    about = "\n".join(f"- **{name}:** {markdown_escaped(told)}" for name, told in report.about.items())
    lines += [f"## {CITE}", f"`{report.signature}`", about, markdown_escaped(DATA)]
    return "\n\n".join(lines) + "\n"


def _markdown_opening(said: Opening | None) -> list[str]:
    if said is None:
        return []
    told = [
        f"**{markdown_escaped(name)}.** {markdown_escaped(' '.join(sentences))}"
        for name, sentences in said.evaluators.items()
    ]
    cautions = "\n".join(f"- {markdown_escaped(each)}" for each in said.cautions)
    return [f"## {WORDS}", *map(markdown_escaped, said.audited), *told, f"### {CAUTIONS}", cautions]


def markdown_table(each: Table) -> str:
    """Write one table with its heading and note.

    Example:
        ``### T3 · Vertical flips … (paper A, Table 3)``
    """
    headers = [markdown_escaped(column.header) for column in each.columns]
    ruler = [":--" if column.kind == "text" else "--:" for column in each.columns]
    rows = [[markdown_escaped(cell) for cell in row] for row in cells(each)]
    lines = [
        _markdown_heading(each.id, each.title, each.paper),
        "",
        *(_markdown_row(row) for row in (headers, ruler, *rows)),
    ]
    return "\n".join([*lines, "", markdown_escaped(each.note)])


def markdown_escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line, with no cell border in it.

    Example:
        >>> markdown_escaped("a|b *c*")
        'a\\\\|b \\\\*c\\\\*'
    """
    return _MARKS.sub(r"\\\1", " ".join(str(text).split()))


def _markdown_heading(name: str, title: str, paper: str) -> str:
    return f"### {name} · {markdown_escaped(title)}" + (f" ({markdown_escaped(of_paper(paper))})" if paper else "")


def _markdown_figure(each: Figure) -> str:
    picture = f"![{markdown_escaped(each.title)}](figures/{each.id}.svg)"
    return f"{_markdown_heading(each.id, each.title, each.paper)}\n\n{picture}\n\n{markdown_escaped(each.note)}"


def _markdown_row(row: list[str]) -> str:
    return f"| {' | '.join(row)} |"


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "|": r"$|$",
    "✓": r"$\surd$", "√": r"$\surd$", "✗": r"$\times$",
    "−": r"$-$", "→": r"$\rightarrow$", "±": r"$\pm$", "·": r"$\cdot$", "×": r"$\times$", "≥": r"$\ge$", "≤": r"$\le$",
    "Δ": r"$\Delta$", "δ": r"$\delta$", "λ": r"$\lambda$", "β": r"$\beta$", "ρ": r"$\rho$", "τ": r"$\tau$",
    "χ": r"$\chi$", "ε": r"$\varepsilon$", "₁": r"$_1$", "²": r"$^2$", "³": r"$^3$", "⁻": r"$^-$", "°": r"$^\circ$",
    "—": "---", "–": "--", "’": "'", "“": "``", "”": "''", "…": r"\dots{}", "\u00a0": "~",
}  # fmt: skip

_HEAD = r"""\documentclass[10pt,a4paper,landscape]{article}
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
    lines = [_HEAD, rf"\title{{{latex_escaped(report.title)}}}", r"\date{}", r"\begin{document}", r"\maketitle"]
    lines += _latex_opening(report.opening)
    if report.plane is not None:
        lines += [rf"\section*{{{FIGURE}}}", _latex_figure(report.plane), ""]
    if report.short:
        lines += [rf"\section*{{{TABLES}}}", *(part for each in report.short for part in (latex_table(each), ""))]
    lines += [rf"\section*{{{METHODS}}}", *_paragraphs(HOW)]
    if report.lacks:
        lines += [rf"\section*{{{LACKS}}}", *_items(map(latex_escaped, report.lacks))]
    about = (rf"\textbf{{{latex_escaped(name)}:}} {latex_escaped(told)}" for name, told in report.about.items())
    lines += [rf"\section*{{{CITE}}}", rf"\texttt{{\small {_breakable(report.signature)}}}", "", *_items(about)]
    return "\n".join([*lines, latex_escaped(DATA), r"\end{document}", ""])


def _latex_opening(said: Opening | None) -> list[str]:
    if said is None:
        return []
    lines = [rf"\section*{{{WORDS}}}", *_paragraphs(said.audited)]
    for name, sentences in said.evaluators.items():
        lines += [rf"\textbf{{{latex_escaped(name)}.}} {latex_escaped(' '.join(sentences))}", "", r"\medskip"]
    return [*lines, rf"\subsection*{{{CAUTIONS}}}", *_items(map(latex_escaped, said.cautions))]


def _paragraphs(texts: Iterable[str]) -> list[str]:
    return [part for each in texts for part in (latex_escaped(each), "", r"\medskip")]


def _items(texts: Iterable[str]) -> list[str]:
    return [r"\begin{itemize}", *(rf"\item {each}" for each in texts), r"\end{itemize}"]


def latex_table(each: Table) -> str:
    """Write one table with its heading and note; it breaks over pages."""
    places = "".join("l" if column.kind == "text" else "r" for column in each.columns)
    head = " & ".join(latex_escaped(column.header) for column in each.columns) + r" \\"
    rows = [" & ".join(latex_escaped(cell) for cell in row) + r" \\" for row in cells(each)]
    lines = [
        _latex_heading(each.id, each.title, each.paper),
        r"{\small",
        rf"\begin{{longtable}}{{@{{}}{places}@{{}}}}",
        r"\toprule",
        head,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *rows,
        r"\end{longtable}}",
        rf"{{\footnotesize {latex_escaped(each.note)}\par}}",
    ]
    return "\n".join(lines)


def latex_escaped(text: str) -> str:
    r"""Return text that LaTeX typesets as it is; what it has no command for stays (XeLaTeX and LuaLaTeX set it).

    Example:
        >>> latex_escaped("50 % of a_b")
        '50 \\% of a\\_b'
    """
    return "".join(_SPECIAL.get(character, character) for character in " ".join(str(text).split()))


def _breakable(signature: str) -> str:
    """A line of a hundred characters without a blank: let it break after each field."""
    return r"\allowbreak ".join(latex_escaped(part) for part in _with_bars(signature))


def _with_bars(signature: str) -> list[str]:
    parts = signature.split("|")
    return [f"{part}|" for part in parts[:-1]] + parts[-1:]


def _latex_heading(name: str, title: str, paper: str) -> str:
    said = rf"\paper{{{latex_escaped(of_paper(paper))}}}" if paper else ""
    return rf"\subsection*{{{name} $\cdot$ {latex_escaped(title)}{said}}}"


def _latex_figure(each: Figure) -> str:
    return "\n".join(
        [
            _latex_heading(each.id, each.title, each.paper),
            rf"\includegraphics[width=\linewidth,height=0.75\textheight,keepaspectratio]{{figures/{each.id}.pdf}}",
            "",
            rf"{{\footnotesize {latex_escaped(each.note)}\par}}",
        ]
    )
