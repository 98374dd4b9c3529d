"""The engine of pairs: the same variant wherever it is made, its own caption for each subject, a reason else."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.corpora.images import pixel_hash
from core.corpora.schema import Item
from core.errors import ProbeRejected
from core.probes.base import (
    HUMAN,
    IDENTITY,
    TEMPLATE,
    Axis,
    Edits,
    Expectation,
    Probe,
    Subject,
    Variant,
)
from core.probes.pairs import Pairs, baseline_name, subject_of, subjects_of
from core.probes.registry import catalogue
from core.probes.rejections import CODES, meaning
from core.probes.scene import Scene
from core.seeds import stream
from core.settings import ROOT
from tests.probes.painted import paint

CAPTIONS = {"en": ("A dog on a hill.", "Some dog.", "A brown dog."), "de": ("Ein Hund auf einem Hügel.",)}
SEED = 11


def numbered(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """Says what it was told and what it drew."""
    if "hill" not in subject.caption and "Hügel" not in subject.caption:
        raise ProbeRejected("few-nouns", f"{subject.caption!r} has no hill")
    return Variant("numbered", caption=f"{subject.caption} {rng.integers(10**9)}", facts={"language": subject.language})


NUMBERED = Probe(
    "numbered",
    Axis.LEXICAL,
    "numbered",
    Expectation.DIRECTIONAL,
    Edits.CAPTION,
    "A number is added.",
    numbered,
    subjects=(HUMAN,),
)


@pytest.fixture
def item() -> Item:
    return replace(paint().item, label="dog", captions=CAPTIONS)


@pytest.fixture
def pairs(item: Item) -> Pairs:
    return Pairs(item, paint().pixels, seed=SEED)


def drawn(item: Item, *own: str) -> int:
    return int(stream(SEED, item.id, "numbered", *own).integers(10**9))


def test_the_first_english_caption_draws_from_the_stream_of_item_and_probe_and_others_from_their_own(
    item: Item, pairs: Pairs
) -> None:
    german, second = Subject(HUMAN, "de", 0, "Hügel"), Subject(HUMAN, "en", 1, "hill")
    first = Subject(HUMAN, "en", 0, "hill")
    found = [draft.caption for draft in pairs.edited(NUMBERED, [first, second, german]).drafts]
    assert found == [f"hill {drawn(item)}", f"hill {drawn(item, 'en', '1')}", f"Hügel {drawn(item, 'de', '0')}"]
    assert len({drawn(item), drawn(item, "en", "1"), drawn(item, "de", "0")}) == 3


def test_an_edited_image_is_the_same_beside_every_subject(pairs: Pairs, item: Item) -> None:
    subjects = [*subjects_of(item, TEMPLATE)[0], *subjects_of(item, HUMAN, languages=("de", "en"))[0]]
    edited = pairs.edited(catalogue().get("reposition-TL"), subjects)
    assert edited.pixels is not None
    alone = pairs.make(catalogue().get("reposition-TL"))
    assert isinstance(alone, Variant)
    assert alone.pixels is not None
    assert {draft.image_key for draft in edited.drafts} == {pixel_hash(edited.pixels)} == {pixel_hash(alone.pixels)}
    assert [draft.caption for draft in edited.drafts] == [
        "There is a dog.",
        "Ein Hund auf einem Hügel.",
        "A dog on a hill.",
    ]
    assert {draft.facts["anchor"] for draft in edited.drafts} == {"TL"}


def test_a_caption_that_cannot_be_edited_has_a_reason_and_the_others_their_pairs(pairs: Pairs, item: Item) -> None:
    subjects, _ = subjects_of(item, HUMAN, languages=("en", "de"), captions_each=3)
    edited = pairs.edited(NUMBERED, subjects)
    assert [(draft.subject.language, draft.subject.rank) for draft in edited.drafts] == [("en", 0), ("de", 0)]
    assert [reason.detail for reason in edited.reasons] == ["'Some dog.' has no hill", "'A brown dog.' has no hill"]
    assert {draft.image_key for draft in edited.drafts} == {pixel_hash(pairs.pixels)}


def test_a_pair_is_compared_with_the_unedited_image_and_the_same_subject(pairs: Pairs, item: Item) -> None:
    german = Subject(HUMAN, "de", 0, "Ein Hügel.")
    (draft,) = pairs.edited(NUMBERED, [german]).drafts
    assert baseline_name(draft) == IDENTITY
    assert pairs.baseline(draft) == (IDENTITY, "Ein Hügel.")
    (template,), _ = subjects_of(item, TEMPLATE)
    (modified,) = pairs.edited(catalogue().get("cultural:Russian"), [template]).drafts
    name, caption = pairs.baseline(modified)
    assert catalogue().get(name).control
    assert caption == f"There is a {name.partition(':')[2]} dog."
    assert baseline_name(pairs.unedited(german)) is None


def test_what_a_probe_raises_costs_its_variant_and_an_edit_of_no_caption_has_a_reason(pairs: Pairs) -> None:
    def burst(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        raise ZeroDivisionError("someone's slip")

    made = pairs.make(replace(catalogue().get("vflip"), make_function=burst))
    assert isinstance(made, ProbeRejected)
    assert made.code == "probe-failed"
    assert "ZeroDivisionError: someone's slip" in made.detail
    lacking = pairs.make(NUMBERED)
    assert isinstance(lacking, ProbeRejected)
    assert lacking.code == "no-caption"


@pytest.mark.parametrize(
    ("changes", "name", "languages", "captions_each", "found", "codes"),
    [
        ({}, TEMPLATE, ("de",), 1, [("en", 0)], []),
        ({"label": None}, TEMPLATE, ("en",), 1, [], ["no-label"]),
        ({"label": " "}, TEMPLATE, ("en",), 1, [], ["no-label"]),
        ({}, HUMAN, ("en",), 1, [("en", 0)], []),
        ({}, HUMAN, ("de", "en"), 2, [("de", 0), ("en", 0), ("en", 1)], []),
        ({}, HUMAN, ("fr", "en"), 1, [("en", 0)], ["no-human-caption"]),
        ({"captions": {"en": ("\ud800",)}}, HUMAN, ("en",), 1, [], ["bad-caption"]),
    ],
)
def test_subjects_are_the_captions_that_were_asked_for_and_what_is_missing_has_a_reason(
    item: Item, changes: dict, name: str, languages: tuple[str, ...], captions_each: int, found: list, codes: list
) -> None:
    subjects, reasons = subjects_of(replace(item, **changes), name, languages=languages, captions_each=captions_each)
    assert [(each.language, each.rank) for each in subjects] == found
    assert all(each.name == name for each in subjects)
    assert [each.code for each in reasons] == codes


def test_a_caption_that_somebody_chose_is_known_by_its_language(item: Item) -> None:
    assert subject_of(item, "Ein Hund auf einem Hügel.") == Subject(HUMAN, "de", 0, "Ein Hund auf einem Hügel.")
    assert subject_of(item, "A brown dog.").rank == 2
    assert subject_of(item, "my own words") == Subject(HUMAN, "en", 0, "my own words")


def test_every_code_that_the_code_gives_is_explained() -> None:
    given = {
        (path.relative_to(ROOT).as_posix(), code)
        for room in ("corpora", "probes", "audit", "scoring", "evaluators", "human")
        for path in sorted((ROOT / "core" / room).rglob("*.py"))
        for code in codes_in(path)
    }
    assert {"crowd", "bad-category", "no-mask", "language-not-read", "probe-failed"} <= {code for _, code in given}
    assert {(path, code) for path, code in given if code not in CODES} == set()
    assert meaning("of a plug-in") == ""


def codes_in(path: Path) -> list[str]:
    """Literals that stand where a rejection takes its code."""
    of_file = 0 if "corpora" in path.relative_to(ROOT).parts else 2
    places = {"ProbeRejected": 0, "Rejection": 1, "_remark": 1, "LeftOut": of_file}
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            place = places.get(node.func.id if isinstance(node.func, ast.Name) else node.func.attr)
            values = node.args[place : place + 1] if place is not None else []
            found += [each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return found
