"""The bare template, the caption that every neutral control is compared with. Source: paper A, 3.1 and A.3."""

import numpy as np

from core.probes.base import BASE_CAPTION, IDENTITY, Axis, Edits, Subject, Variant, probe
from core.probes.scene import Scene
from core.probes.words.templates import base_caption, item_label


@probe(
    name=BASE_CAPTION,
    axis=Axis.SOCIETAL,
    family=BASE_CAPTION,
    edits=Edits.CAPTION,
    summary="The bare template 'There is a [object].', beside which every modified caption is reported.",
    baseline=IDENTITY,
    control=True,
    source="paper A, 3.1 and A.3",
)
def base(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:
    """The bare template."""
    return Variant(probe=BASE_CAPTION, caption=base_caption(item_label(scene.item)))
