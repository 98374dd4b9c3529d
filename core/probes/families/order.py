"""Order: the words of a human caption in a random one. Source: paper D, 4.4.2 (probe), 4.5 (crossings).

Unlike ``jumble`` the final full stop stays at the end and the sentence begins with a capital, so that nothing but the
order tells the two apart. The words of the caption itself, in lower case with a capital, are the same for every order:
a caption whose shuffle differs from it by case alone is rejected.
"""

from types import MappingProxyType

import numpy as np

from core.errors import ProbeRejected
from core.probes.base import HUMAN, Axis, Edits, Expectation, Subject, Variant, probe
from core.probes.scene import Scene
from core.probes.words.changes import changed_words, check_language
from core.probes.words.order import shuffle


@probe(
    name="order",
    axis=Axis.SEMANTIC,
    family="order",
    edits=Edits.CAPTION,
    summary="The words of a human caption stand in a random order; the final stop stays, a capital opens it.",
    expectation=Expectation.DIRECTIONAL,
    source="paper D, 4.4.2",
    default=False,
    subjects=(HUMAN,),
)
def order(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """Shuffle the words."""
    language = check_language(subject)
    plain, shuffled = shuffle(subject.caption, rng, language=language)
    if not plain or plain == shuffled:
        raise ProbeRejected("unchanged", f"no other order of the words of {subject.caption!r} reads differently")
    before, after = plain.split(), shuffled.split()
    facts = {"words": float(len(before)), "changed": float(changed_words(before, after))} if language != "ja" else {}
    return Variant("order", caption=shuffled, facts=MappingProxyType(facts))
