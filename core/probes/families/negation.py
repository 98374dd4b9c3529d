"""Negation, and its converse: what is there is denied, what is absent is affirmed.

Four captions make a 2 × 2: the template of the item's object (the baseline, ``There is a dog.``), its negation
(``negation``), and the same two of a category that is annotated absent (``affirmation:absent``, ``negation:absent``).
An evaluator that understands a negation prefers the first of each pair: *dog* over *no dog*, *no zebra* over *a
zebra*.

Beside them a human caption is negated by rules (``negation`` of the subject ``human``), and in German, French, Spanish
and Japanese the template itself is written and negated (``affirmation:template``, ``negation:template``).
Source: paper D, 4.4.1.
"""

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import (
    FALSITY,
    HUMAN,
    IDENTITY,
    TEMPLATE,
    VERIFIED,
    Construction,
    Expectation,
    Probe,
    Subject,
    Variant,
    caption_probe,
)
from core.probes.scene import Scene
from core.probes.words.caption_language import check_english, check_language
from core.probes.words.categories import absence, another_kind
from core.probes.words.templates import base_caption, item_label, negate, negated_template, template_words

SOURCE = "paper D, 4.4.1"
ABSENT = "absent-category"  # name that both probes of an absent category draw it under, and their family


def _negation(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    plain = subject.name == TEMPLATE
    made = negated_template(item_label(scene.item)) if plain else negate(check_english(subject))
    return Variant("negation", caption=made.text, facts={"rule": made.rule, FALSITY: made.falsity})


NEGATION = caption_probe(
    "negation",
    "negation",
    "The caption is negated: 'There is no [object].', or a human caption by rules, so that it is false.",
    _negation,
    source=SOURCE,
    subjects=(TEMPLATE, HUMAN),
)


def _of_absent(name: str, summary: str, *, negated: bool) -> Probe:
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        label = item_label(scene.item)
        chosen = another_kind(scene.item, rng)
        text = negated_template(chosen).text if negated else base_caption(chosen)
        known = absence(scene.item, chosen)  # the denial of what is not there is true
        told = {"basis": known["basis"]} if negated else known
        return Variant(name, caption=text, facts={"present": label, "absent": chosen, **told})

    return caption_probe(
        name,
        ABSENT,
        summary,
        make,
        expectation=Expectation.RESPONSE if negated else Expectation.DIRECTIONAL,
        baseline=IDENTITY if negated else "negation:absent",
        source=SOURCE,
        subjects=(TEMPLATE,),
        draws=ABSENT,
    )


def _template(name: str, summary: str, *, negated: bool) -> Probe:
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        if subject.rank:
            raise ProbeRejected("repeated-template", "the template is written once a language, for its first caption")
        found = template_words(item_label(scene.item), scene.item.category, check_language(subject))
        text = found.negated if negated else found.affirmed
        facts = {"label": found.label, **({FALSITY: VERIFIED} if negated else {})}
        return Variant(name, caption=text, facts=facts)

    return caption_probe(
        name,
        "template",
        summary,
        make,
        expectation=Expectation.DIRECTIONAL if negated else Expectation.RESPONSE,
        baseline="affirmation:template" if negated else IDENTITY,
        source=SOURCE,
        control=not negated,
        declares=Construction.TEMPLATE,
    )


ABSENTS = (
    _of_absent(
        "negation:absent", "The template denies a category that the image does not show: it is true.", negated=True
    ),
    _of_absent(
        "affirmation:absent",
        "The template affirms a category that the image does not show, beside its true denial.",
        negated=False,
    ),
)
"""The right-hand half of the 2 × 2."""

TEMPLATES = (
    _template(
        "affirmation:template",
        "The template of the label in the caption's own language, e.g. 'Da ist ein Hund.'.",
        negated=False,
    ),
    _template(
        "negation:template",
        "The template of the label, negated in the caption's own language: it is false.",
        negated=True,
    ),
)
"""The template and its negation in every language that the table of nouns has."""
