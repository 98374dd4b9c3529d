"""A report in LaTeX: booktabs and longtable, every character of the data escaped."""

from core.charts.spec import Figure
from core.report.cells import cells, of_paper
from core.report.model import CAUTIONS, WORDS, Opening, Report, Table

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
    """Write the whole document; figures are ``figures/ID.pdf``."""
    lines = [_HEAD, rf"\title{{{escaped(report.title)}}}", r"\date{}", r"\begin{document}", r"\maketitle"]
    lines += _opening(report.opening)
    lines += [rf"\texttt{{\small {_breakable(report.signature)}}}", "", r"\begin{itemize}"]
    lines += [rf"\item \textbf{{{escaped(name)}:}} {escaped(told)}" for name, told in report.about.items()]
    lines += [r"\end{itemize}"]
    for heading, tables in report.sections():
        lines += [rf"\section*{{{heading}}}", *(part for each in tables for part in (table(each), ""))]
    lines += [r"\section*{Figures}"]
    for figure in report.figures:
        lines += [_figure(figure), ""]
    if report.missing:
        lines += [r"\section*{What these runs cannot give}", r"\begin{itemize}"]
        lines += [rf"\item \textbf{{{escaped(each.id)}}}{_of_paper(each.paper)}: {escaped(each.reason)}"
                  for each in report.missing]  # fmt: skip
        lines += [r"\end{itemize}"]
    return "\n".join([*lines, r"\end{document}", ""])


def _of_paper(paper: str) -> str:
    return f" ({escaped(of_paper(paper))})" if paper else ""


def _opening(said: Opening | None) -> list[str]:
    if said is None:
        return []
    lines = [rf"\section*{{{WORDS}}}", *(part for each in said.audited for part in (escaped(each), "", r"\medskip"))]
    for name, sentences in said.evaluators.items():
        lines += [rf"\subsection*{{{escaped(name)}}}", escaped(" ".join(sentences)), ""]
    lines += [
        rf"\subsection*{{{CAUTIONS}}}",
        r"\begin{itemize}",
        *(rf"\item {escaped(each)}" for each in said.cautions),
    ]
    return [*lines, r"\end{itemize}", r"\section*{These numbers}", ""]


def table(each: Table) -> str:
    """Write one table with its heading and note; it breaks over pages."""
    places = "".join("l" if column.kind == "text" else "r" for column in each.columns)
    head = " & ".join(escaped(column.header) for column in each.columns) + r" \\"
    rows = [" & ".join(escaped(cell) for cell in row) + r" \\" for row in cells(each)]
    lines = [
        _heading(each.id, each.title, each.paper), r"{\small", rf"\begin{{longtable}}{{@{{}}{places}@{{}}}}",
        r"\toprule", head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot", *rows, r"\end{longtable}}",
        rf"{{\footnotesize {escaped(each.note)}\par}}",
    ]  # fmt: skip
    return "\n".join(lines)


def escaped(text: str) -> str:
    r"""Return text that LaTeX typesets as it is; what it has no command for stays (XeLaTeX and LuaLaTeX set it).

    Example:
        >>> escaped("50 % of a_b")
        '50 \\% of a\\_b'
    """
    return "".join(_SPECIAL.get(character, character) for character in " ".join(str(text).split()))


def _breakable(signature: str) -> str:
    """A line of a hundred characters without a blank: let it break after each field."""
    return r"\allowbreak ".join(escaped(part) for part in _with_bars(signature))


def _with_bars(signature: str) -> list[str]:
    parts = signature.split("|")
    return [f"{part}|" for part in parts[:-1]] + parts[-1:]


def _heading(name: str, title: str, paper: str) -> str:
    said = rf"\paper{{{escaped(of_paper(paper))}}}" if paper else ""
    return rf"\subsection*{{{name} $\cdot$ {escaped(title)}{said}}}"


def _figure(each: Figure) -> str:
    return "\n".join(
        [_heading(each.id, each.title, each.paper),
         rf"\includegraphics[width=\linewidth,height=0.75\textheight,keepaspectratio]{{figures/{each.id}.pdf}}", "",
         rf"{{\footnotesize {escaped(each.note)}\par}}"]
    )  # fmt: skip
