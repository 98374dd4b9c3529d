"""Variants of variants, planned as an audit: what the calibrated score of a variant is made of.

The calibrated evaluator (:mod:`core.evaluators.calibrated`) scores a pair with the variants of its picture, whatever
the picture is. So the calibrated score of a variant needs the variants of that variant. Here they are probes, e.g.
``vflip>rotate+5`` (first flipped, then turned) and ``identity>vflip``, each edited as the calibrated evaluator edits a
picture of which it knows nothing; an audit scores them as it scores any probe, shard by shard and resumable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.audit.plan import Plan, make_plan
from core.corpora.images import pixel_hash
from core.corpora.schema import Corpus
from core.errors import InvalidInput, ProbeRejected
from core.evaluators.calibrated import edit_alone, orbit_probes
from core.probes.base import ENGLISH, IDENTITY, Edits, Expectation, Probe, Subject, Variant
from core.probes.pairs import Pairs
from core.probes.scene import Scene


def composed(first: str, second: str) -> str:
    """Name of what the second probe makes of what the first one made; the first may be IDENTITY."""
    return f"{first}>{second}"


def uncomposable(families: Mapping[str, Sequence[str]]) -> str:
    """Why the variants of some families' variants cannot be made; empty where they can.

    Args:
        families: probes by family.
    """
    wrong, can = [], []
    for name, names in families.items():
        try:
            orbit_probes(name, names)
            can.append(name)
        except InvalidInput as error:
            wrong.append(str(error))
    if not wrong:
        return ""
    others = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
    told = f"calibrate for {', '.join(can)} alone" if can else "calibrate for families of the whole picture"
    return f"the variants of its variants cannot be made: {wrong[0]}{others}; {told}"


def composed_plan(
    corpus: Corpus,
    items: Sequence[str],
    families: Mapping[str, Sequence[str]],
    *,
    evaluator: str,
    subject: str,
    language: str = ENGLISH,
    seed: int,
) -> Plan:
    """Plan the audit that scores some items, their variants, and the variants of both.

    Args:
        corpus: that holds the items.
        items: ids.
        families: probes by family.
        evaluator: reference of the uncalibrated one.
        subject, language: of the captions.
        seed: of the run that the calibration was learnt from.

    Raises:
        InvalidInput: if a family's variants have no variants, or the corpus lacks an item.
    """
    if why := uncomposable(families):
        raise InvalidInput(why)
    probes = [probe for name, names in families.items() for probe in orbit_probes(name, names)]
    wanted = set(items)
    kept = tuple(item for item in corpus.items if item.id in wanted)
    if len(kept) < len(wanted):
        raise InvalidInput(
            f"{len(wanted) - len(kept)} of {len(wanted)} items are not in corpus {corpus.name!r} as it is "
            "read here; name its folder and options as the audit did"
        )
    plan = make_plan(
        replace(corpus, items=kept, rejected=()), evaluators=[evaluator], probes=[probe.name for probe in probes],
        subjects=(subject,), languages=(language,), seed=seed,
    )  # fmt: skip
    firsts: tuple[Probe | None, ...] = (None, *probes)
    return replace(plan, probes=(*probes, *(_then(first, second, seed) for first in firsts for second in probes)))


def images_to_score(items: int, probes: int) -> int:
    """Pictures that a measurement scores, at most: two flips in a row give the picture back, which is scored once."""
    return items * (1 + probes) ** 2


def _then(first: Probe | None, second: Probe, seed: int) -> Probe:
    """The second probe on what the first one makes; None: on the unedited picture."""
    name = composed(IDENTITY if first is None else first.name, second.name)

    def make(scene: Scene, subject: Subject, rng: np.random.Generator) -> Variant:  # noqa: ARG001  # has streams of its own
        pixels = scene.pixels
        if first is not None:
            made = Pairs(scene.item, pixels, seed=seed).make(first)
            if isinstance(made, ProbeRejected):
                raise made
            pixels = pixels if made.pixels is None else made.pixels
        try:
            return Variant(name, edit_alone(second, pixel_hash(pixels), pixels))
        except InvalidInput as error:
            raise ProbeRejected("probe-failed", str(error)) from error

    family = second.family if first is None else f"{first.family}>{second.family}"
    return Probe(
        name, second.axis, family, Expectation.INVARIANT, Edits.IMAGE,
        f"{second.name} of what {IDENTITY if first is None else first.name} makes.", make, default=False,
        framewise=second.framewise and (first is None or first.framewise),
    )  # fmt: skip
