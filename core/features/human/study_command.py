"""``study``: create, invite, export, import, agreement, rates: a coordinator's work without a browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.commands import _outputs
from core.commands._shared import Code, exit_codes, note, print_json, show_table, table

if TYPE_CHECKING:
    import pandas as pd

    from core.features.human.studies import Study

_LEFT_OUT = "the same, without damaged rows of the log"

app = typer.Typer(
    help="Studies of human validation: create one, invite annotators, take votes out and in, read the agreement.",
    invoke_without_command=True,
    epilog=exit_codes(),
)

_Name = Annotated[str, typer.Argument(help="Id of the study, as 'study' lists it.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script.")]


@app.callback()
def list_all(ctx: typer.Context, as_json: _Json = False) -> None:
    """List the studies and how far they are."""
    if ctx.invoked_subcommand is not None:
        return
    from core.features.human.studies import list_studies

    found, problems = list_studies()
    rows = [_row(study) for study in found]
    if as_json:
        print_json([dict(zip(_COLUMNS, row, strict=True)) for row in rows])
    else:
        table(_COLUMNS, rows)
    for problem in problems:
        note(problem)
    if not found:
        note("no study yet; create one with: python -m core study create NAME --run RUN")


@app.command(epilog=exit_codes(ok="created"), short_help="Draw a stratified sample of a run and open a study of it.")
def create(
    name: Annotated[str, typer.Argument(help="Id of the new study: letters, digits, dots, dashes, underscores.")],
    run: Annotated[str, typer.Option(help="Id of the run to draw from.")] = "demo",
    title: Annotated[str, typer.Option(help="For you; annotators never see it.")] = "",
    kind: Annotated[str, typer.Option(help="acceptability, correctness, preference or rating.")] = "acceptability",
    total: Annotated[int, typer.Option(help="Pairs to draw; what is short is told and not filled.")] = 480,
    per_item: Annotated[int, typer.Option(help="Annotators an item.")] = 3,
    attention: Annotated[float, typer.Option(help="Share of items with a known answer, 0 to 0.5.")] = 0.05,
    family: Annotated[list[str] | None, typer.Option(help="Draw from these families instead of the paper's.")] = None,
    directional: Annotated[
        list[str] | None, typer.Option(help="Draw comparisons of a right and a wrong side from these families too.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample, the sides and the orders.")] = 2025,
) -> None:
    """Create a study. The strata are those of paper A, scaled to the total; families of your choice count alike.

    A family of --directional breaks the meaning on purpose: people compare a right and a wrong side and are never
    told which is which.
    """
    from core.features.human.creation import create_study, planned_precision
    from core.features.human.sampling import PAPER_STRATA, family_strata
    from core.store.store import default_store

    strata = family_strata(family or (), directional or ()) if family or directional else PAPER_STRATA
    with default_store() as store:
        study = create_study(
            store,
            run,
            study_id=name,
            title=title or name,
            kind=kind,
            total=total,
            per_item=per_item,
            attention_rate=attention,
            seed=seed,
            strata=strata,
        )
    definition = study.definition
    rows = [(*row, row[1] - row[3]) for row in definition.strata]
    table(("stratum", "target", "available", "taken", "short"), rows)
    short = sum(row[-1] for row in rows)
    items = sum(not item.attention for item in definition.items)
    typer.echo(f"study {study.id}: {items} items" + (f", {short} pairs short of {total}" if short else ""))
    for sentence in planned_precision(definition.asked, items=items, annotators=per_item):
        typer.echo(sentence)


@app.command(epilog=exit_codes(ok="invited"), short_help="Invite annotators and print their personal links.")
def invite(
    name: _Name,
    people: Annotated[list[str] | None, typer.Argument(help="Names, for you only.")] = None,
    url: Annotated[
        str | None,
        typer.Option(
            help="Address under which annotators reach the dashboard; default: INVARISCOPE_PUBLIC_URL, else "
            "http://localhost:8501."
        ),
    ] = None,
) -> None:
    """Invite annotators; without names, print the links of those who are invited already."""
    from core.settings import public_url

    address = (url or public_url() or "http://localhost:8501").rstrip("/")
    study = _find(name)
    if people:
        study.invite(people)
    rows = [
        (each.id, each.name, f"{address}/people?token={token}")
        for each in study.state().annotators.values()
        if (token := study.token(each.id))
    ]
    table(("annotator", "name", "link"), rows)


@app.command(epilog=exit_codes(ok="written", failures=_LEFT_OUT), short_help="Write the votes as CSV, Parquet or JSON.")
def export(
    name: _Name,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .csv, .parquet or .json; - for CSV on standard output.",
            callback=_outputs.text,
        ),
    ],
    withdrawn: Annotated[bool, typer.Option("--withdrawn", help="With withdrawn annotators, marked.")] = False,
) -> None:
    """Write the votes of a study; no link, no secret and no name is among them."""
    from core.features.human.exchange import export_votes
    from core.writing import write_bytes

    with _counted(name) as study:
        if output == _outputs.STDOUT:
            _outputs.write_text(output, export_votes(study, "csv", withdrawn=withdrawn).decode())
            return
        data = export_votes(study, output.suffix.lstrip(".").lower(), withdrawn=withdrawn)
        write_bytes(output, data)
        typer.echo(f"{output}, {len(data) / 1000:.0f} kB")


@app.command("import", epilog=exit_codes(ok="read"), short_help="Take in votes that were made elsewhere.")
def take_in(
    name: _Name,
    file: Annotated[Path, typer.Argument(help="As an export, or of label-studio, potato, doccano or crowd-kit.")],
) -> None:
    """Read votes from a file; it is checked as a whole before the first row is written."""
    from core.features.human.exchange import MOST_BYTES, import_votes

    study = _find(name)
    study.check()
    with file.open("rb") as opened:
        taken = import_votes(study, opened.read(MOST_BYTES + 1), name=file.name)
    for sentence in taken.told:
        note(sentence)
    typer.echo(f"{taken.count} {'vote' if taken.count == 1 else 'votes'} new or changed")


@app.command(
    epilog=exit_codes(failures=_LEFT_OUT), short_help="Agreement of the annotators, each measure with n and interval."
)
def agreement(name: _Name, as_json: _Json = False) -> None:
    """Print percent agreement, Fleiss κ, Randolph κ, Gwet AC1, Krippendorff α, pairwise weighted κ and competence.

    Competence is the estimated share of items that an annotator answers by knowing rather than guessing, under MACE.
    Rates of votes are about people and items like these, with what would halve their intervals.
    """
    from pandas import DataFrame

    from core.features.human.crossed_votes import whom_it_is_about
    from core.features.human.mace import study_competence
    from core.features.human.study_outcomes import study_agreement, study_kappas, vote_rates
    from core.features.human.votes import vote_table

    with _counted(name) as study:
        votes, kind = vote_table(study), study.definition.asked
        rows = [row for each in study_agreement(votes, kind) for row in each.rows()]
        pairs, found = study_kappas(votes, kind), study_competence(votes, kind)
        rated = vote_rates(votes, kind, live=study.live)
        about = whom_it_is_about(int(rated["annotators"].max()), live=study.live) if len(rated) else ""
        if as_json:
            told = {"competence": found.people, "answers": found.answers, "rates": rated, "pairwise": pairs}
            frames = {key: frame.to_dict("records") for key, frame in told.items()}
            print_json({"agreement": rows, **frames, "about": about})
            return
        _show(DataFrame(rows), "S-human-agreement")
        _show(pairs, "S-human-kappa")
        _show(found.people, "S-human-competence")
        _show(found.answers, "S-human-answers")
        _show(rated.drop(columns="more"), "S-human-rates")
        for row in rated.to_dict("records"):
            typer.echo(f"{row['question']}: {row['more']}")
        if about:
            typer.echo(about)


@app.command(
    epilog=exit_codes(failures=_LEFT_OUT), short_help="Rates over all pairs, from votes alone and joined with scores."
)
def rates(name: _Name, as_json: _Json = False) -> None:
    """Print what people would say of every pair, and what 100 more votes would buy.

    Prediction-powered inference: the votes on a sample are joined with the scores of each evaluator for all pairs.
    """
    from core.analysis.reading import read_table
    from core.analysis.scope import Scope
    from core.features.human.powered_votes import powered_rows, what_more_votes_buy
    from core.store.store import default_store

    with _counted(name) as study:
        asked = next(item for item in study.definition.items if not item.attention)
        with default_store() as store:
            scope = Scope(runs=(study.definition.run,), subject=asked.subject, language=asked.language)
            found = powered_rows(study, read_table(store, scope))
        if as_json:
            print_json({"rates": found.to_dict("records")})
            return
        if found.empty:
            note("no item has a vote yet")
            return
        _show(found, "S-human-powered")
        for row in found.to_dict("records"):
            typer.echo(f"{row['question']}: {what_more_votes_buy(row)}")


_COLUMNS = ("study", "state", "kind", "run", "items", "votes", "wanted", "annotators")


def _row(study: "Study") -> tuple[object, ...]:
    definition, state = study.definition, study.state()
    plain = [item.id for item in definition.items if not item.attention and item.id not in state.exercises]
    votes = state.votes()
    people, given = sum(not each.withdrawn for each in state.annotators.values()), sum(votes[item] for item in plain)
    about = (study.id, state.status, definition.kind, definition.run)
    return (*about, len(plain), given, len(plain) * definition.per_item, people)


def _find(name: str) -> "Study":
    """Open a study; raises UnknownName where there is none of that name."""
    from core.errors import UnknownName
    from core.features.human.definition import DEFINITION, check_study_id
    from core.features.human.studies import Study, list_studies, studies_dir

    folder = studies_dir() / check_study_id(name)
    if not (folder / DEFINITION).is_file():
        known = ", ".join(study.id for study in list_studies()[0]) or "none yet"
        raise UnknownName(f"no study {name!r} here; there are: {known}")
    return Study(folder)


@contextmanager
def _counted(name: str) -> Iterator["Study"]:
    """Open a study whose votes are to be counted, and say what of its log does not count; StoreError if nothing can be
    said of its votes, and Exit at the end, with 1, where votes that were given could not be read."""
    study = _find(name)
    whole = study.check()
    for problem in study.problems():
        note(problem)
    yield study
    if not whole:
        raise typer.Exit(Code.FAILURES)


def _show(frame: "pd.DataFrame", of: str) -> None:
    """Print what a report has as the table of this id; nothing where there is no row."""
    from core.report.beyond import PEOPLE

    title, columns, _ = PEOPLE[of]
    if len(frame):
        show_table(frame, columns, title)
