"""Negation, and its converse: what is there is denied, what is absent is affirmed.

Four captions make a 2 × 2: the template of the item's object (the baseline, ``There is a dog.``), its negation
(``negation``), and the same two of a category that is annotated absent (``affirmation:absent``, ``negation:absent``).
An evaluator that understands a negation prefers the first of each pair: *dog* over *no dog*, *no zebra* over *a
zebra*.

Beside them a human caption is negated by rules (``negation`` of the subject ``human``), and in German, French, Spanish
and Japanese the template itself is written and negated (``affirmation:template``, ``negation:template``).
Source: paper D, 4.4.1.
"""

from types import MappingProxyType

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import (
    HUMAN,
    IDENTITY,
    TEMPLATE,
    VERIFIED,
    Axis,
    Construction,
    Edits,
    Expectation,
    Maker,
    Probe,
    Subject,
    Variant,
    probe,
)
from core.probes.scene import Scene
from core.probes.words.caption_language import check_english, check_language
from core.probes.words.categories import absence, another_kind
from core.probes.words.negating import Negation, negate, negated_template
from core.probes.words.templates import TemplateWords, base_caption, item_label, template_words

SOURCE = "paper D, 4.4.1"
ABSENT = "absent-category"
"""Name that both probes of an absent category draw it under, and their family."""


@probe(
    name="negation",
    axis=Axis.SEMANTIC,
    family="negation",
    edits=Edits.CAPTION,
    summary="The caption is negated: 'There is no [object].', or a human caption by rules, so that it is false.",
    expectation=Expectation.DIRECTIONAL,
    source=SOURCE,
    default=False,
    subjects=(TEMPLATE, HUMAN),
)
def negation(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """Negate the caption."""
    if subject.name == TEMPLATE:
        return _negated("negation", negated_template(item_label(scene.item)))
    return _negated("negation", negate(check_english(subject)))


def _negated(name: str, made: Negation) -> Variant:
    facts = MappingProxyType({"rule": made.rule, "falsity": made.falsity})
    return Variant(name, caption=made.text, facts=facts)


def _of_absent(name: str, summary: str, expectation: Expectation, baseline: str, *, negated: bool) -> Probe:
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        label = item_label(scene.item)
        chosen = another_kind(scene.item, rng)
        text = negated_template(chosen).text if negated else base_caption(chosen)
        known = absence(scene.item, chosen)  # the denial of what is not there is true
        told = {"basis": known["basis"]} if negated else known
        return Variant(name, caption=text, facts=MappingProxyType({"present": label, "absent": chosen, **told}))

    return _probe(name, ABSENT, summary, expectation, baseline, make, draws=ABSENT)


def _probe(
    name: str,
    family: str,
    summary: str,
    expectation: Expectation,
    baseline: str,
    make: Maker,
    *,
    draws: str = "",
    subjects: tuple[str, ...] = (TEMPLATE,),
    control: bool = False,
    declares: Construction | None = None,
) -> Probe:
    return Probe(
        name,
        Axis.SEMANTIC,
        family,
        expectation,
        Edits.CAPTION,
        summary,
        make,
        baseline=baseline,
        control=control,
        source=SOURCE,
        default=False,
        subjects=subjects,
        draws=draws,
        declares=declares,
    )


def _template(name: str, summary: str, expectation: Expectation, baseline: str, *, negated: bool) -> Probe:
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        if subject.rank:
            raise ProbeRejected("repeated-template", "the template is written once a language, for its first caption")
        found: TemplateWords = template_words(item_label(scene.item), scene.item.category, check_language(subject))
        text = found.negated if negated else found.affirmed
        facts = {"label": found.label, **({"falsity": VERIFIED} if negated else {})}
        return Variant(name, caption=text, facts=MappingProxyType(facts))

    return _probe(
        name,
        "template",
        summary,
        expectation,
        baseline,
        make,
        subjects=(HUMAN,),
        control=not negated,
        declares=Construction.TEMPLATE,
    )


ABSENTS = (
    _of_absent(
        "negation:absent",
        "The template denies a category that the image does not show: it is true.",
        Expectation.RESPONSE,
        IDENTITY,
        negated=True,
    ),
    _of_absent(
        "affirmation:absent",
        "The template affirms a category that the image does not show, beside its true denial.",
        Expectation.DIRECTIONAL,
        "negation:absent",
        negated=False,
    ),
)
"""The right-hand half of the 2 × 2."""

TEMPLATES = (
    _template(
        "affirmation:template",
        "The template of the label in the caption's own language, e.g. 'Da ist ein Hund.'.",
        Expectation.RESPONSE,
        IDENTITY,
        negated=False,
    ),
    _template(
        "negation:template",
        "The template of the label, negated in the caption's own language: it is false.",
        Expectation.DIRECTIONAL,
        "affirmation:template",
        negated=True,
    ),
)
"""The template and its negation in every language that the table of nouns has."""
