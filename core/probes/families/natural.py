"""Societal words in captions that people wrote: as written, neutralised, and swapped for their contrast.

The image is the item's own; the modifier is replaced, a preceding *a* or *an* follows, all else stays
identical. The neutral rewrite is the baseline of the caption as written and of the swapped one, as the
length-matched control is in the templates. A swapped gender or mood may contradict what the photograph
shows: its shift is a contrast with the neutral rewrite, and no proof of a bias by itself. An item without
such a caption is rejected with that reason. Which captions count is what a tagger reads: ``natural-economic`` by the
rules, ``natural-economic-spacy`` by spaCy. That is part of the probe's name, so a pair is made again as it was made
wherever it is made, and a run says which it holds.
Source: paper A, A.12.
"""

import numpy as np

from core.errors import NotAvailable, ProbeRejected
from core.probes.base import BASE_CAPTION, Axis, Construction, Edits, Expectation, Probe, Subject, Variant
from core.probes.scene import Scene
from core.probes.words.insertion import GENDER_FAMILIES, GENDERED
from core.probes.words.natural_captions import NEUTRALISED, SWAPPED, NaturalCaption, family_of, find, why_none
from core.probes.words.screening import Family, Modifier, families, screen
from core.probes.words.taggers import RULES, TAGGERS, tagger


def make_probes(owner: Family, reader: str = RULES) -> tuple[Probe, ...]:
    """Return a family's natural probes.
    ``natural-<family>:neutralised`` is the control and the baseline of the others; ``…:<word>`` is the
    caption as it was written, where it says that word; ``…:swapped-<word>`` the caption into which that
    word was put for its contrast.
    ``reader``: of TAGGERS; another than the rules stands behind the family's name, which then alone selects it."""
    made = [_probe(owner, None, NEUTRALISED, "The social word of a human caption is replaced by a neutral one", reader)]
    for word in owner.modifiers:
        summary = f"A human caption that says {word.word!r}, against its neutral rewrite"
        made.append(_probe(owner, word, "", summary, reader))
        if any(other.contrast == word.word for other in owner.modifiers):
            summary = f"A human caption with {word.word!r} in the place of its contrast, against its neutral rewrite"
            made.append(_probe(owner, word, SWAPPED, summary, reader))
    return tuple(made)


def _probe(owner: Family, word: Modifier | None, rewrite: str, summary: str, reader: str) -> Probe:
    family = family_of(owner.name, reader)
    name = f"{family}:{'-'.join(part for part in (rewrite, word.word if word else '') if part)}"

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        try:
            reading = tagger(reader)
        except NotAvailable as error:
            raise ProbeRejected("no-tagger", str(error)) from error
        found = find(scene.item, owner, reading)
        if found is None:
            why = why_none(scene.item, owner, reading)
            raise ProbeRejected(why.code, why.detail)
        said = word.word if word else found.neutral.word
        facts = {"written": found.modifier.word, "said": said, "noun": found.noun, "neutral": found.neutral.word}
        return Variant(probe=name, caption=_rewritten(found, owner, word, rewrite), facts=facts)

    return Probe(
        name=name,
        axis=Axis.SOCIETAL,
        family=family,
        expectation=Expectation.INVARIANT,
        edits=Edits.CAPTION,
        summary=f"{summary}." if reader == RULES else f"{summary}; read by {reader}.",
        make_function=make,
        baseline=BASE_CAPTION if word is None else f"{family}:{NEUTRALISED}",
        modifier=word.word if word else None,
        control=word is None,
        source="paper A, A.12",
        default=False,
        selector="" if reader == RULES else family,
        tagger="" if reader == RULES else reader,
        declares=Construction.CORPUS,
    )


def _rewritten(found: NaturalCaption, owner: Family, word: Modifier | None, rewrite: str) -> str:
    if word is None:
        return found.with_word(found.neutral.word)
    wanted = found.modifier.contrast if rewrite == SWAPPED else found.modifier.word
    if wanted != word.word:
        told = f"the caption says {found.modifier.word!r}, so {word.word!r} has no place in it"
        raise ProbeRejected("other-modifier", told)
    if rewrite != SWAPPED:
        return found.text
    if owner.name in GENDER_FAMILIES and GENDERED.search(found.text):
        told = f"the caption has a word such as 'his', which {word.word!r} may contradict"
        raise ProbeRejected("contradiction", told)
    rejection = screen(found.noun, found.category, owner.name, word.word)
    if rejection is not None:
        raise ProbeRejected(rejection.code, rejection.detail)
    return found.with_word(word.word)


NATURAL = tuple(probe for reader in TAGGERS for owner in families().values() for probe in make_probes(owner, reader))
"""Every natural probe; none is part of the standard grid."""
