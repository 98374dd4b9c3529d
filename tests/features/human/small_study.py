"""A study of made-up items: nothing of it needs a picture unless it is shown."""

from dataclasses import replace
from pathlib import Path

from core.features.human.definition import Definition, StudyItem
from core.features.human.kinds import KINDS
from core.features.human.studies import Place, Study


def items(count: int = 6, attention: int = 0, shows: str = "pair") -> tuple[StudyItem, ...]:
    made = []
    for number in range(1, count + attention + 1):
        check = number > count
        made.append(
            StudyItem(
                id=f"{number:04d}",
                corpus="demo",
                item=f"item-{number}",
                probe="identity" if check else "vflip",
                baseline="identity",
                subject="template",
                edits="caption" if check else "image",
                original_caption="There is a bed.",
                variant_caption="There is a crow." if check else "There is a bed.",
                axis="spatial",
                family="attention" if check else "vertical-flip",
                stratum="attention" if check else "vertical flip",
                shows=shows,
            )
        )
    return tuple(made)


def comparisons(count: int = 4, *, sides: int = 2, attention: int = 0) -> tuple[StudyItem, ...]:
    """Comparisons of two families by turns; with one side each makes two items. Every second shares its source."""
    made = []
    for place in range(count):
        family = ("denied", "swapped:near")[place % 2]
        item = StudyItem(
            id="",
            corpus="c",
            item=f"i{place:03d}",
            probe=family,
            baseline="identity",
            subject="human",
            edits="caption",
            original_caption=f"right {place}",
            variant_caption=f"wrong {place}",
            axis="semantic",
            family=family.split(":")[0],
            stratum=f"{family.split(':')[0]}, directional",
            expectation="directional",
            source=f"source {place // 2}",
        )
        made += [item] if sides == 2 else [replace(item, shows=shows) for shows in ("original", "variant")]
    checks = [replace(each, shows="pair" if sides == 2 else "variant") for each in items(0, attention)]
    return tuple(replace(each, id=f"{number:04d}") for number, each in enumerate((*made, *checks), start=1))


def define(study_id: str = "pilot", *, kind: str = "acceptability", **changes: object) -> Definition:
    shows = "pair" if KINDS[kind].sides == 2 else "variant"
    values = {
        "id": study_id,
        "title": "A pilot",
        "kind": kind,
        "created": "2026-01-01T00:00:00Z",
        "run": "demo",
        "run_seed": 2025,
        "root": None,
        "seed": 7,
        "per_item": 3,
        "attention_rate": 0.0,
        "items": items(shows=shows),
    }
    return Definition(**{**values, **changes})  # type: ignore[arg-type]


def make(parent: Path, study_id: str = "pilot", **changes: object) -> Study:
    return Study.create(parent, define(study_id, **changes))  # type: ignore[arg-type]


def seen(study: Study, annotator: str, item: str) -> int:
    entry = study.state().entries.get((annotator, item))
    return entry.rows if entry else 0


def vote(study: Study, annotator: str, item: str, **answers: object) -> None:
    kind = study.definition.asked
    best = kind.lowest + len(kind.scale) - 1
    usual = {"A": 2, "B": 2, "preference": "tie"} if kind.sides == 2 else {"rating": best}
    for question, value in {**usual, **answers}.items():
        study.answer(annotator, item, question, value, seen=seen(study, annotator, item), seconds=2.0)  # type: ignore[arg-type]


def vote_versions(study: Study, annotator: str, item: str, *, original: int, variant: int, preferred: str) -> None:
    """Vote on the versions, wherever each of them stands."""
    left = study.definition.left_version(annotator, item)
    side = {left: "A", ({"original", "variant"} - {left}).pop(): "B", "tie": "tie"}
    values = {"original": original, "variant": variant}
    answers = {side[version]: value for version, value in values.items()}
    vote(study, annotator, item, **answers, preference=side[preferred])


def finish(study: Study, annotator: str) -> list[str]:
    """Vote on everything that is offered, and return the ids."""
    shown = []
    while (place := next_place(study, annotator)).item is not None:
        vote(study, annotator, place.item.id)
        shown.append(place.item.id)
    return shown


def next_place(study: Study, annotator: str) -> Place:
    return study.place(annotator)
