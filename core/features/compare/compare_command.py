"""``compare``: two runs, evaluators, slices, reports or files of scores held against each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.commands import _outputs
from core.commands._shared import exit_codes, json_text, note, table
from core.errors import InvalidInput

if TYPE_CHECKING:
    from core.features.compare.two_sides import SidesCompared
    from core.report.document import Table

EPILOG = exit_codes(ok="compared, whatever the difference")
TEXT, JSON, JUNIT, _ = FORMATS = ("text", "json", "junit", "markdown")


def compare(
    a: Annotated[
        str, typer.Argument(help="Id or path of a run, folder of a report, file of scores by id, or baseline of check.")
    ],
    b: Annotated[str | None, typer.Argument(help="Another; default: the same.")] = None,
    a_is: Annotated[
        list[str] | None,
        typer.Option(
            "--a",
            help="What side A holds of its run, repeated: evaluator, run, corpus, subject, language, axes, families, "
            "probes, modifiers, categories, coverage_bins, or a column of your own table; e.g. families=blur,rotation.",
        ),
    ] = None,
    b_is: Annotated[list[str] | None, typer.Option("--b", help="The same of side B.")] = None,
    by: Annotated[
        str, typer.Option(help="A row for each family, modifier, probe, category, coverage_bin, or own column.")
    ] = "family",
    measure: Annotated[
        str, typer.Option(help="percent, or standardised: in SD of each side's own clean scores.")
    ] = "percent",
    margin: Annotated[float, typer.Option(min=0.1, max=100, help="Points within which sides are alike.")] = 1.0,
    column: Annotated[str, typer.Option(help="Column or metric of files of scores that hold several.")] = "",
    written: Annotated[str, typer.Option("--format", help=", ".join(FORMATS) + ".")] = TEXT,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default and -: standard output.", callback=_outputs.text),
    ] = None,
) -> None:
    """Hold two runs, evaluators or slices against each other, as the page Compare does, two reports, or two files.

    Items that both sides hold are paired; how many only one of them holds is said. Drift is of an item's signed change,
    scatter of its size. Intervals take items of one source together, Holm's correction is over the rows, and the
    largest difference comes first. Files of scores are JSON of clipscore or CaptionEvalKit, CSV, JSON Lines or Parquet:
    ids alone say what is one item, a picture's ending and zeros before a number aside, and each counts as a source of
    its own. With --format junit a row that differs
    beyond the margin is a failure.

    Of two reports the headline numbers of every question are held against each other where both have them. A report
    holds no items, so these differences have no interval: with --format junit all are skipped.
    """
    from core.features.compare.sides import compare as held
    from core.report.document import cells

    if written not in FORMATS:
        raise InvalidInput(f"--format knows {', '.join(FORMATS)}, got {written!r}")
    found = held(a, b, a_is=a_is or (), b_is=b_is or (), by=by, measure=measure, margin=margin, column=column)
    if written == TEXT and output is None:
        for each in _tables(found):
            table([column.header for column in each.columns], cells(each), title=each.title)
        for sentence in sentences(found):
            note(sentence)
        return
    if written == JSON:
        text = json_text(as_plain(found)) + "\n"
    elif written == JUNIT:
        text = _outputs.junit(f"compare {found.a} | {found.b}", _cases(found))
    else:  # into a file text is Markdown too
        from core.report.report_files import markdown_escaped, markdown_table

        lines = [markdown_table(each) for each in _tables(found)]
        text = "\n\n".join([*lines, *map(markdown_escaped, sentences(found))]) + "\n"
    _outputs.write_text(output or _outputs.STDOUT, text)


def as_plain(found: "SidesCompared") -> dict[str, Any]:
    """A comparison for a script: every cell of the page's table, under the page's names."""
    plain = ("a", "b", "by", "unit", "margin", "shared", "only_a", "only_b")
    frames = {name: getattr(found, name).to_dict("records") for name in ("rows", "made_with")}
    return {name: getattr(found, name) for name in plain} | frames


def sentences(found: "SidesCompared") -> list[str]:
    """What the sides are, what was paired, and how the numbers are to be read."""
    from core.features.compare.sides import QUESTION, UNTESTED

    if found.by == QUESTION:
        equal = int((found.rows["difference"] == 0).sum())
        lines = [
            f"A: {found.a}. B: {found.b}. {found.shared:,} rows of questions on both sides, "
            f"{found.only_a:,} only on A, {found.only_b:,} only on B; {equal:,} are equal and left out here.",
            f"Differences are A − B, the largest of a question first. {UNTESTED}",
        ]
        return [*lines, *_made_with(found, "reports")]
    ways = found.rows["how"].value_counts()
    said = "; ".join(f"{way}: {count} of {len(found.rows)} rows" for way, count in ways.items())
    first = f"A: {found.a}. B: {found.b}. {found.shared:,} items on both sides, {found.only_a:,} only on A, "
    lines = [f"{first}{found.only_b:,} only on B; {said}.", "Differences are A − B, with 95 % BCa intervals."]
    if found.unit == "score":
        return [*lines, "Each id counts as a source of its own."]
    drift, scatter = (int(found.rows[name].max()) for name in ("m_tests", "size_m_tests"))
    lines[1] += (
        f" Items of one source count together; Holm's correction is over {drift} tests of drift and {scatter} of "
        "scatter, each by itself."
    )
    return [*lines, *_made_with(found, "runs")]


def _made_with(found: "SidesCompared", what: str) -> list[str]:
    others = ", ".join(found.made_with["what"].head(12))
    return [f"The {what} were made with other: {others}."] if others else []


def _tables(found: "SidesCompared") -> "list[Table]":
    from core.analysis.questions.question import Column
    from core.features.compare.sides import QUESTION
    from core.features.compare.two_sides import row_names
    from core.report.document import Table

    if found.by == QUESTION:
        return _of_questions(found)
    digits = 4 if found.unit == "score" else 2
    unit = "points" if found.unit == "%" else found.unit
    rows = found.rows.assign(label=found.rows["label"].map(row_names(found.by, found.rows["label"])))
    made = []
    for of, name, what in (("", "drift", "verdict"), ("size_", "scatter", "scatter")):
        if f"{of}difference" not in rows:
            continue
        value = ("a_size", "b_size") if of else ("a_value", "b_value")
        columns = [
            Column("label", "row", kind="text"),
            *(Column(each, f"median {side}", digits, not of) for each, side in zip(value, "AB", strict=True)),
            Column(f"{of}difference", f"A − B, {unit}", digits, True, f"{of}low", f"{of}high"),
            Column(f"{of}p_holm", "p, Holm", kind="p"),
            Column(what, "found", kind="text"),
            Column("n_items", "n", 0),
            Column("how", "how", kind="text"),
        ]
        title = "Scores" if found.unit == "score" else "Drift, signed" if not of else "Scatter, whichever way"
        made.append(Table(f"compare-{name}", title, "", rows, tuple(columns)))
    return made


def _of_questions(found: "SidesCompared") -> "list[Table]":
    """A table a question, of the rows that differ."""
    from core.analysis.questions.question import Column
    from core.report.document import Table

    made, named = [], {"evaluator": "evaluator", "label": "row"}
    for id_, rows in found.rows[found.rows["difference"] != 0].groupby("question", sort=False):
        title, of, digits, signed = rows[["title", "of", "digits", "signed"]].iloc[0]
        columns = (
            *(Column(name, header, kind="text") for name, header in named.items() if rows[name].any()),
            *(Column(f"{of}_value", of.upper(), digits, signed, f"{of}_low", f"{of}_high") for of in "ab"),
            Column("difference", "A − B", digits, True),
            *(Column(f"{of}_n", f"n {of.upper()}", 0) for of in "ab"),
        )
        made.append(Table(str(id_), f"{title}: {of}", "", rows, columns))
    return made


def _cases(found: "SidesCompared") -> "list[Any]":
    from core.commands._outputs import Case
    from core.features.compare.sides import QUESTION, UNTESTED
    from core.features.compare.two_sides import DIFFER, SCATTER_DIFFERS
    from core.report.document import number

    cases = []
    if found.by == QUESTION:
        for row in found.rows.to_dict("records"):
            said = f"A − B {number(row['difference'], digits=row['digits'], signed=True)}. {UNTESTED}"
            name = ", ".join(filter(None, (row["question"], row["evaluator"], row["label"])))
            cases.append(Case(name, said, skipped=True))
        return cases
    for row in found.rows.to_dict("records"):
        parts = [
            f"{row[claim]}: A − B {number(row[f'{of}difference'], digits=4, signed=True)} "
            f"({number(row[f'{of}low'], digits=4, signed=True)} to {number(row[f'{of}high'], digits=4, signed=True)})"
            for of, claim in (("", "verdict"), ("size_", "scatter"))
            if claim in row
        ]
        differs = row["verdict"] == DIFFER or row.get("scatter") == SCATTER_DIFFERS
        cases.append(Case(str(row["label"]), f"{'; '.join(parts)}; n = {row['n_items']}, {row['how']}", differs))
    return cases
