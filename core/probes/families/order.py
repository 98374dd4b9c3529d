"""Order: the words of a human caption in a random one. Source: paper D, 4.4.2 (probe), 4.5 (crossings).

``draws`` chooses four more draws of it that count with the first. ``order-parts`` chooses ARO's four orders, of a part
of an English caption's words: nouns and adjectives, all others, the words of every three in a row, the threes
themselves. ARO finds parts of speech with a tagger; here a dictionary and rules do.

Unlike ``jumble`` the final full stop stays at the end and the sentence begins with a capital, so that nothing but the
order tells the two apart. The words of the caption itself, in lower case with a capital, are the same for every order:
a caption whose shuffle differs from it by case alone is rejected.
"""

from collections.abc import Callable

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import Probe, Subject, Variant, caption_probe
from core.probes.families.lexical import AGAIN, DRAW, DRAWS
from core.probes.scene import Scene
from core.probes.words.caption_language import changed_words, check_english, check_language
from core.probes.words.lexical_edits import PARTS, shuffle, shuffle_part


def _shuffling(
    name: str,
    summary: str,
    source: str,
    shuffled: Callable[[Subject, np.random.Generator], tuple[str, str]],
    facts: dict[str, float],
    *,
    which: str,
    selector: str = "",
    redrawn: bool = False,
) -> Probe:
    """A probe of another order. ``shuffled`` gives the caption as it would be written without it, and with it."""

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
        plain, edited = shuffled(subject, rng)
        if not plain or plain == edited:
            raise ProbeRejected("unchanged", f"no other order of {which} of {subject.caption!r} reads differently")
        before, after = plain.split(), edited.split()
        told = {"words": float(len(before)), "changed": float(changed_words(before, after))}
        told = facts if subject.language == "ja" else told | facts
        return Variant(name, caption=edited, facts=told)

    return caption_probe(name, "order", summary, make, source=source, selector=selector, redrawn=redrawn)


def _order(draw: int = 1) -> Probe:
    says = "The words of a human caption stand in a random order; the final stop stays, a capital opens it"
    return _shuffling(
        f"order:draw{draw}" if draw > 1 else "order",
        f"{says}; draw {draw} of {DRAWS}." if draw > 1 else f"{says}.",
        "paper D, 4.4.2",
        lambda subject, rng: shuffle(subject.caption, rng, language=check_language(subject)),
        {DRAW: float(draw)} if draw > 1 else {},
        which="the words",
        selector=AGAIN if draw > 1 else "",
        redrawn=draw > 1,
    )


ORDER = _order()
REDRAWN = tuple(_order(draw) for draw in range(2, DRAWS + 1))

SELECTOR = "order-parts"

_SAYS = {
    "nouns-and-adjectives": "Nouns and adjectives of a human caption change places; all other words stay.",
    "all-but-nouns-and-adjectives": "All words of a human caption but nouns and adjectives change places.",
    "within-trigrams": "The words of every three in a row of a human caption change places.",
    "trigrams": "A human caption is cut into threes of words, and these change places.",
}


def _of_part(part: str) -> Probe:
    return _shuffling(
        f"order:{part}",
        _SAYS[part],
        "ARO: Yuksekgonul et al., ICLR 2023, COCO and Flickr30k order",
        lambda subject, rng: shuffle_part(check_english(subject), rng, part),
        {},
        which="these words",
        selector=SELECTOR,
    )


OF_PARTS = tuple(_of_part(part) for part in PARTS)
