"""The lists that the demo corpus is built from beside those that the trunk reads: photographs and short captions.

What is said of a composed picture is put together here of the words of the trunk's grammar.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from core.corpora import demo_plan
from core.corpora.demo_plan import Grammar, capital, check_row, read_texts, rows_of, share
from core.corpora.schema import CATEGORIES, EXTRA_CATEGORIES, Box, Mask, SceneObject
from core.errors import BadCorpus

FILLING = ("most", "all")  # shares of which no place in the picture is said: the object is everywhere


@dataclass(frozen=True, slots=True)
class PhotographEntry:
    """One photograph of a library; its hand-checked mask is ``assets/demo/masks/<id>.png``. ``others`` names the other
    objects and their boxes in pixels: ``label x y width height; ...`` or ``none``."""

    id: str
    package: str
    file: str
    label: str
    category: str
    licence: str
    source: str
    others: tuple[SceneObject, ...]


@dataclass(frozen=True, slots=True)
class Plan(demo_plan.Plan):
    """Everything that the demo corpus is built from, but the pixels.
    ``captions``: short captions written for the corpus, by stamp or photograph."""

    photographs: tuple[PhotographEntry, ...]
    captions: Mapping[str, Mapping[str, tuple[str, ...]]]
    sentences: Mapping[str, Mapping[str, str]]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all items in the corpus's order: composed ones, then photographs."""
        return (*(item.id for item in self.items), *(photograph.id for photograph in self.photographs))


def read_plan(folder: Path) -> Plan:
    """Read the lists: stamps, items, photographs, captions, and the words that sentences are made of.
    Raises BadCorpus naming the file, the line and the value that cannot be used."""
    core = demo_plan.read_plan(folder)
    photographs = [
        _photograph(row, where) for where, row in rows_of(folder / "photographs.csv", PhotographEntry.__slots__)
    ]
    captions = {
        name: {language: (text,) for language, text in texts.items()}
        for name, texts in read_texts(folder / "captions.csv").items()
    }
    sentences = read_texts(folder / "sentences.csv")
    plan = Plan(core.stamps, core.items, core.grammar, tuple(photographs), captions, sentences)
    twice = sorted({name for name in plan.ids if plan.ids.count(name) > 1})
    if twice:
        raise BadCorpus(f"{folder}: two items are named {twice[0]!r}; rename one")
    return plan


def said_of(grammar: Grammar, *, label: str, stamp: str, background: str, mask: Mask) -> dict[str, tuple[str, ...]]:
    """Say in every language what a composed picture shows.
    Raises BadCorpus if there is no noun phrase for the label or no phrase for the background."""
    noun = grammar.nouns.get(stamp) or grammar.nouns.get(label)
    if noun is None:
        raise BadCorpus(f"nouns.csv has no noun phrase for label {label!r} or stamp {stamp!r}; write it")
    if background not in grammar.places:
        raise BadCorpus(f"places.csv has no phrase for background {background!r}; write it")
    size = share(mask)
    pattern = grammar.phrases["pattern:filling" if size in FILLING else "pattern:placed"]
    said = {"noun": noun, "place": grammar.places[background], "share": grammar.phrases[f"share:{size}"]}
    said["where"] = grammar.phrases[f"where:{where(mask)}"]
    return {
        language: (capital(text.format(**{name: each[language] for name, each in said.items()})),)
        for language, text in pattern.items()
    }


def where(mask: Mask) -> str:
    """Say where an object is: the third of the frame that holds the centre of its box. Left and right are said first,
    so ``top``, ``bottom`` and ``middle`` are of the third between them. Raises BadCorpus if the mask is empty."""
    box = mask.box
    if box is None:
        raise BadCorpus("an object without a pixel is nowhere in the picture; leave its item out")
    across, down = box.centre[0] / mask.width, box.centre[1] / mask.height
    if not 1 / 3 <= across <= 2 / 3:
        return "left" if across < 1 / 3 else "right"
    if not 1 / 3 <= down <= 2 / 3:
        return "top" if down < 1 / 3 else "bottom"
    return "middle"


def _photograph(row: dict[str, str], where: str) -> PhotographEntry:
    check_row(row, where, category=CATEGORIES + EXTRA_CATEGORIES)
    others = []
    for text in () if row["others"] == "none" else row["others"].split(";"):
        words = text.split()
        if len(words) < 5 or not all(word.isdigit() for word in words[-4:]):
            raise BadCorpus(f"{where}: {text.strip()!r} must be a label and a box in pixels: label x y width height")
        others.append(SceneObject(" ".join(words[:-4]), Box(*map(float, words[-4:]))))
    fields = {name: row[name] for name in PhotographEntry.__slots__ if name != "others"}
    return PhotographEntry(**fields, others=tuple(others))
