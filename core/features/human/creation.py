"""Making a study of a run: sample, definition, folder, in one step for page and command line."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from core.errors import InvalidInput
from core.features.human.definition import Definition
from core.features.human.kinds import kind_of
from core.features.human.pictures import Load, load_corpus, make_pictures, read_with
from core.features.human.sampling import PAPER_STRATA, Sample, Stratum, draw_sample
from core.features.human.studies import Study, studies_dir
from core.seeds import RUN_SEED
from core.store.manifest import Run
from core.store.run_sources import origin_of_run
from core.store.store import Store


def create_study(
    store: Store,
    run: str,
    *,
    study_id: str,
    title: str,
    kind: str,
    total: int,
    per_item: int,
    attention_rate: float,
    seed: int,
    strata: Sequence[Stratum] = PAPER_STRATA,
    parent: Path | None = None,
    load: Load = load_corpus,
) -> Study:
    """Draw a sample and create the study.

    The first item's pictures are made before anything is written, so that nobody is invited to look at nothing.

    Raises:
        InvalidInput: if the run is not here or not complete, a number is out of range, or the name is taken.
        NotAvailable: if the pictures of the run's corpus cannot be made here.
        StoreError: if the study cannot be written.
    """
    found = _complete(store, run)
    sample = draw_sample(
        store,
        run,
        kind=kind_of(kind),
        total=total,
        seed=seed,
        strata=strata,
        attention_rate=attention_rate,
        present=labels_in_pictures(found, load=load),
    )
    return open_study(
        found,
        sample,
        study_id=study_id,
        title=title,
        kind=kind,
        per_item=per_item,
        attention_rate=attention_rate,
        seed=seed,
        parent=parent,
        load=load,
    )


def open_study(
    run: Run,
    sample: Sample,
    *,
    study_id: str,
    title: str,
    kind: str,
    per_item: int,
    attention_rate: float,
    seed: int,
    parent: Path | None = None,
    load: Load = load_corpus,
) -> Study:
    """Create the study of a sample that was drawn; see :func:`create_study`."""
    root = run.manifest["corpus"].get("root")
    definition = Definition(
        id=study_id,
        title=title.strip()[:120] or "Untitled",
        kind=kind,
        created=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        run=run.id,
        run_seed=int(run.manifest.get("seed", RUN_SEED)),
        root=root if isinstance(root, str) else None,
        seed=seed,
        per_item=per_item,
        attention_rate=attention_rate,
        items=sample.items,
        strata=sample.strata,
        examples=sample.examples,
        read_with=read_with(run.manifest["corpus"]),
    )
    origin_of_run(run)  # a study shows to others what it reads
    make_pictures(definition, definition.items[0], load=load)
    return Study.create(studies_dir() if parent is None else parent, definition)


def labels_in_pictures(run: Run, *, load: Load = load_corpus) -> Mapping[str, Collection[str]]:
    """Labels of everything annotated in each picture of a run's corpus; only what is annotated can be known.

    Raises:
        NotAvailable: if the corpus is not here.
    """
    corpus = load(origin_of_run(run))
    return {item.id: {other.label for other in item.others} for item in corpus.items}


def _complete(store: Store, run: str) -> Run:
    for found in store.runs():
        if found.id == run and found.status == "complete":
            return found
    known = ", ".join(each.id for each in store.runs() if each.status == "complete") or "none yet"
    raise InvalidInput(f"no complete run {run!r} to draw from; there are: {known}")
