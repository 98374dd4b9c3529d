"""Given: the wrong side that comes with the item, as SugarCrepe, ARO, Winoground, VALSE and FOIL give it.

Nothing is edited here: the corpus says which caption is wrong of its picture (``wrong-caption``), and where it says so,
which picture that caption is right of (``wrong-picture``). The item's first caption in the language is the right one.
Source: paper D, 4.1; Winoground (Thrush et al., CVPR 2022) for the pictures.
"""

import numpy as np

from core.corpora.schema import WRONG_PICTURE
from core.errors import ProbeRejected
from core.probes.base import HUMAN, Axis, Edits, Expectation, Subject, Variant, caption_probe, probe
from core.probes.scene import Scene, rival_pixels

FAMILY = "given"


def _wrong_caption(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    text = scene.item.wrong.get(subject.language)
    if text is None or subject.rank:
        told = f"item {scene.item.id!r} gives no wrong caption beside {subject.caption!r}"
        raise ProbeRejected("no-wrong-side", told)
    return Variant("wrong-caption", caption=text, facts=scene.item.facts)


_SAYS = "The caption that the corpus says is wrong of the picture; the score must drop."
WRONG_CAPTION = caption_probe("wrong-caption", FAMILY, _SAYS, _wrong_caption, source="paper D, 4.1", needs="wrong")


@probe(
    name="wrong-picture",
    axis=Axis.SEMANTIC,
    family="given-picture",
    edits=Edits.IMAGE,
    summary="The picture that the wrong caption is right of, beside the right caption; the score must drop.",
    expectation=Expectation.DIRECTIONAL,
    source="Winoground (Thrush et al., CVPR 2022)",
    default=False,
    held=(HUMAN,),
    needs="rivals",
)
def wrong_picture(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """Show the picture of the other caption."""
    pixels = rival_pixels(scene.item, WRONG_PICTURE)
    return Variant("wrong-picture", pixels=pixels, facts=scene.item.facts)
