"""Order: the words of a human caption in a random one. Source: paper D, 4.4.2 (probe), 4.5 (crossings).

``draws`` chooses four more draws of it that count with the first. ``order-parts`` chooses ARO's four orders, of a part
of an English caption's words: nouns and adjectives, all others, the words of every three in a row, the threes
themselves. ARO finds parts of speech with a tagger; here a dictionary and rules do.

Unlike ``jumble`` the final full stop stays at the end and the sentence begins with a capital, so that nothing but the
order tells the two apart. The words of the caption itself, in lower case with a capital, are the same for every order:
a caption whose shuffle differs from it by case alone is rejected.
"""

from types import MappingProxyType

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import HUMAN, Axis, Edits, Expectation, Probe, Subject, Variant, probe
from core.probes.families.lexical import AGAIN, DRAW, DRAWS
from core.probes.scene import Scene
from core.probes.words.caption_language import changed_words, check_english, check_language
from core.probes.words.lexical_edits import PARTS, shuffle, shuffle_part


def _order(draw: int = 1) -> Probe:
    name, says = (
        "order",
        "The words of a human caption stand in a random order; the final stop stays, a capital opens it",
    )
    if draw > 1:
        name, says = f"order:draw{draw}", f"{says}; draw {draw} of {DRAWS}"

    @probe(
        name=name,
        axis=Axis.SEMANTIC,
        family="order",
        edits=Edits.CAPTION,
        summary=f"{says}.",
        expectation=Expectation.DIRECTIONAL,
        source="paper D, 4.4.2",
        default=False,
        subjects=(HUMAN,),
        selector=AGAIN if draw > 1 else "",
        redrawn=draw > 1,
    )
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        language = check_language(subject)
        plain, shuffled = shuffle(subject.caption, rng, language=language)
        if not plain or plain == shuffled:
            raise ProbeRejected("unchanged", f"no other order of the words of {subject.caption!r} reads differently")
        before, after = plain.split(), shuffled.split()
        told = {"words": float(len(before)), "changed": float(changed_words(before, after))} if language != "ja" else {}
        return Variant(name, caption=shuffled, facts=MappingProxyType(told | ({DRAW: float(draw)} if draw > 1 else {})))

    return make


order = _order()
REDRAWN = tuple(_order(draw) for draw in range(2, DRAWS + 1))


SELECTOR = "order-parts"

_SAYS = {
    "nouns-and-adjectives": "Nouns and adjectives of a human caption change places; all other words stay.",
    "all-but-nouns-and-adjectives": "All words of a human caption but nouns and adjectives change places.",
    "within-trigrams": "The words of every three in a row of a human caption change places.",
    "trigrams": "A human caption is cut into threes of words, and these change places.",
}


def _of_part(part: str) -> Probe:
    name = f"order:{part}"

    @probe(
        name=name,
        axis=Axis.SEMANTIC,
        family="order",
        edits=Edits.CAPTION,
        summary=_SAYS[part],
        expectation=Expectation.DIRECTIONAL,
        source="ARO: Yuksekgonul et al., ICLR 2023, COCO and Flickr30k order",
        default=False,
        subjects=(HUMAN,),
        selector=SELECTOR,
    )
    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        plain, shuffled = shuffle_part(check_english(subject), rng, part)
        if not plain or plain == shuffled:
            raise ProbeRejected("unchanged", f"no other order of these words of {subject.caption!r} reads differently")
        before, after = plain.split(), shuffled.split()
        facts = {"words": float(len(before)), "changed": float(changed_words(before, after))}
        return Variant(name, caption=shuffled, facts=MappingProxyType(facts))

    return make


OF_PARTS = tuple(_of_part(part) for part in PARTS)
