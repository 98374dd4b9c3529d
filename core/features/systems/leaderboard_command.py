"""``leaderboard``: any number of captioners, ranked with intervals, also under harmless edits."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.commands import _outputs
from core.commands._shared import (
    Code,
    exit_codes,
    key_values,
    listed,
    note,
    print_json,
    progress,
    references,
    show_table,
    table,
)
from core.errors import InvalidInput

if TYPE_CHECKING:
    import pandas as pd

    from core.corpora.caption_tables import System
    from core.corpora.schema import Corpus
    from core.features.systems.system_file import Leaderboard
    from core.probes.base import Probe

EPILOG = exit_codes(ok="every caption has a score", failures="ranked, but some captions have no score")
USUAL = "conse-lite0"  # evaluator where none is named
SHOWN = 5
PAIRS_SHOWN = 20


def leaderboard(
    systems: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files of captions, [NAME=]candidates.json, .jsonl, or a .csv with a column for each system; "
            "or the name of a leaderboard that is kept."
        ),
    ] = None,
    images: Annotated[Path | None, typer.Option(help="Folder of the pictures; instead of --corpus.")] = None,
    corpus: Annotated[str | None, typer.Option(help="Corpus of the pictures: 'corpora' lists them.")] = None,
    root: Annotated[Path | None, typer.Option(help="Folder of the corpus, where it needs one.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="key=value of the corpus, e.g. split=val2017.")] = None,
    people: Annotated[
        Path | None, typer.Option("--references", help="Captions by people, as for 'score'. Default: the corpus's.")
    ] = None,
    human: Annotated[
        bool, typer.Option("--human", help="Add the row 'human': one reference of each picture, drawn by the seed.")
    ] = False,
    evaluators: Annotated[
        list[str] | None, typer.Option(help=f"Names or path/to/file.py:Name, comma-separated. Default: {USUAL}.")
    ] = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--beside-references",
            help="Also BLEU-1 to BLEU-4, METEOR, ROUGE-L and CIDEr-D; the last two rank systems as evaluators do.",
        ),
    ] = False,
    edits: Annotated[
        list[str] | None,
        typer.Option(help="Harmless edits of the picture: names, families or axes of 'probes', e.g. vflip,blur,null."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first pictures that all systems caption.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the edits and of the drawn references.")] = None,
    name: Annotated[str | None, typer.Option(help="Name to keep it under. Default: the corpus's.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write every table as CSV into this folder too.", callback=_outputs.folder)
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu, cuda, mps. Default: the best there is.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every table as JSON for a script.")] = False,
    pace: Annotated[
        bool, typer.Option("--pace", help="Also say each evaluator's seconds a pair, and its device.")
    ] = False,
) -> None:
    """Rank captioners by mean score, each rank with its interval, and say which neighbours a harmless edit swaps.

    The scores are kept in one file of data/leaderboards, which the page Leaderboard opens; its name alone
    prints it again.
    """
    from core.features.systems.system_file import list_leaderboards, path_of, read_leaderboard

    if not systems:
        kept = list_leaderboards()
        table(("leaderboard", "file"), [(each, path_of(each)) for each in kept])
        if not kept:
            note("no leaderboard yet; make one with: python -m core leaderboard A.json B.json --images photos/")
        return
    if images is None and corpus is None:
        if len(systems) > 1 or "=" in systems[0] or Path(systems[0]).suffix:
            raise InvalidInput("a leaderboard needs the pictures: give --images FOLDER or --corpus NAME")
        if systems[0] not in list_leaderboards():
            raise InvalidInput(
                f"no leaderboard {systems[0]!r} is kept here; there is {', '.join(list_leaderboards()) or 'none'}"
            )
        made = read_leaderboard(path_of(systems[0]))
    else:
        chosen = _edits(edits)
        pictures = _pictures(images, corpus, root, option)
        made = _scored(
            pictures,
            _systems(systems),
            chosen,
            references(evaluators) or (USUAL,),
            people=people,
            human=human,
            compare=compare,
            limit=limit,
            seed=seed,
            name=name,
            device=device,
            pace=pace,
        )
    _tell(made, out=out, as_json=as_json)
    if made.left_out:
        raise typer.Exit(Code.FAILURES)


def _pictures(images: Path | None, corpus: str | None, root: Path | None, option: list[str] | None) -> "Corpus":
    from core.corpora.registry import find

    if images is not None and (corpus is not None or root is not None):
        raise InvalidInput("--images and --corpus exclude each other; give the folder or the corpus")
    if images is not None:
        return find("folder").load(images, **key_values(option))
    return find(str(corpus)).load(root, **key_values(option))


def _systems(given: list[str]) -> "list[System]":
    from core.corpora.caption_tables import read_systems
    from core.corpora.ordinary_paths import ordinary

    found: list[System] = []
    for each in given:
        called, separator, path = each.partition("=")
        if not separator or ordinary(Path(each)).exists():
            called, path = "", each
        found += read_systems(Path(path), name=called)
    return found


def _edits(given: list[str] | None) -> "tuple[Probe, ...]":
    from core.probes.base import Edits, Expectation
    from core.probes.registry import select

    chosen = select(listed(given)) if given else ()
    wrong = [
        each.name for each in chosen if each.edits is not Edits.IMAGE or each.expectation is not Expectation.INVARIANT
    ]
    if wrong:
        raise InvalidInput(f"{wrong[0]!r} is no harmless edit of the picture alone; choose such as vflip, blur or null")
    return chosen


def _scored(
    pictures: "Corpus",
    systems: "list[System]",
    edits: "tuple[Probe, ...]",
    names: tuple[str, ...],
    *,
    people: Path | None,
    human: bool,
    compare: bool,
    limit: int | None,
    seed: int | None,
    name: str | None,
    device: str | None,
    pace: bool,
) -> "Leaderboard":
    from core.corpora.caption_tables import read_references
    from core.evaluators.pool import Pool
    from core.evaluators.registry import find
    from core.features.systems.board_scores import check_board, enter, score_board, score_references
    from core.features.systems.system_file import (
        Leaderboard,
        checked_name,
        free_name,
        joined,
        path_of,
        with_references,
        write_leaderboard,
    )
    from core.scoring.caption_scores import pace_told
    from core.seeds import RUN_SEED

    seed = RUN_SEED if seed is None else seed
    if name is not None and path_of(checked_name(name)).exists():
        raise InvalidInput(f"a leaderboard {name!r} is kept already, at {path_of(name)}; choose another --name")
    entered = enter(
        pictures, systems, references=None if people is None else read_references(people), people=human, seed=seed
    )
    for sentence in entered.remarks:
        note(sentence)
    items = (entered.common or entered.items)[:limit] if limit else entered.items
    for kind in map(find, names):
        check_board(kind.spec, entered)
        kind.check_available()
    rejected: list[str] = []
    parts, prints, left_out = [], {}, []
    pool = Pool(device=device)
    for reference in names:
        with pool.lease(reference) as loaded, progress("scoring", unit="images") as update:
            begun = time.perf_counter()
            found = score_board(loaded, entered, edits, items=items, seed=seed, progress=update)
            taken = time.perf_counter() - begun
            prints[loaded.spec.name] = loaded.fingerprint.key
        if pace:
            note(pace_told(pool, reference, seconds=taken, pairs=int(found.rows["score"].notna().sum())))
        parts.append(found.rows)
        left_out += list(found.left_out)
        rejected += [each for each in found.edits if each not in rejected]
    found_beside = score_references(parts[0], entered.references) if compare else None
    remarks = [*rejected, *([found_beside.remark] if found_beside and found_beside.remark else [])]
    called, told = name or free_name(pictures.name), (*entered.remarks, *remarks)
    made = Leaderboard(called, joined(parts), pictures.name, prints, told, tuple(left_out), seed)
    if found_beside:
        made = with_references(made, found_beside)
    for sentence in remarks:
        note(sentence)
    note(f"kept as {made.name!r}: {write_leaderboard(made)}")
    return made


def _tell(made: "Leaderboard", *, out: Path | None, as_json: bool) -> None:
    from core.features.systems.system_tables import tables

    found = tables(made)
    if out is not None:
        from core.store.text_files import csv_text
        from core.writing import write_folder_whole

        def fill(folder: Path) -> None:
            for stem, frame in found.items():
                (folder / f"{stem}.csv").write_text(csv_text(frame), encoding="utf-8", errors="backslashreplace")

        write_folder_whole(out, fill)
        note(f"{len(found)} tables in {out}")
    if as_json:
        about = {"leaderboard": made.name, "corpus": made.corpus, "evaluators": dict(made.evaluators)}
        said = {"remarks": list(made.remarks), "left_out": list(made.left_out)}
        print_json({**about, **said, **{stem: frame.to_dict("records") for stem, frame in found.items()}})
        return
    _show(found)
    for sentence in made.left_out[:SHOWN]:
        note(sentence)
    if len(made.left_out) > SHOWN:
        note(f"and {len(made.left_out) - SHOWN:,} more without a score")
    prints = ", ".join(f"{evaluator}, fingerprint {key}" for evaluator, key in made.evaluators.items())
    note(f"{made.name}: corpus {made.corpus}, scored by {prints}")


def _show(found: "dict[str, pd.DataFrame]") -> None:
    from core.features.systems.system_tables import COLUMNS, worded

    def shown(name: str, frame: "pd.DataFrame", title: str) -> None:
        if len(frame):
            show_table(worded(name, frame), COLUMNS[name], title)

    for evaluator, rows in found["standings"].groupby("evaluator", sort=False):
        n = int(rows["n_items"].iloc[0])
        shown("standings", rows, f"{evaluator}, n = {n:,} pictures that all systems caption")
        if told := str(rows["note"].iloc[0]):
            note(f"{evaluator}: {told}")
    shown("references", found["references"], "Beside references, on the pictures that all systems caption")
    if len(found["references"]):
        from core.scoring.reference_metrics import TOKENIZER

        note(f"words of captions: {TOKENIZER}")
    pairs = found["differences"]
    shown("differences", pairs.head(PAIRS_SHOWN), "Pairwise differences")
    if len(pairs) > PAIRS_SHOWN:
        note(f"and {len(pairs) - PAIRS_SHOWN:,} more pairs; --out writes them all")
    shown("swaps", found["swaps"], "Neighbours under harmless edits")
