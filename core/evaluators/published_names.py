"""Names by which CaptionEvalKit and the publishers' scripts call a metric, and what scores it here."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class PublishedName:
    """One metric under two names.

    Args:
        evaluator: its name here.
        shown: the key of its scores in the publishers' and in CaptionEvalKit's output.
    """

    evaluator: str
    shown: str


_KNOWN: Mapping[str, PublishedName] = MappingProxyType(
    {
        alias: PublishedName(evaluator, shown)
        for evaluator, shown, aliases in (
            ("clipscore", "CLIPScore", ()),
            ("refclipscore", "RefCLIPScore", ()),
            ("pac-s", "PAC-S", ("pacscore",)),
            ("refpac-s", "RefPAC-S", ("refpacscore",)),
            ("pac-s-l14", "PAC-S", ("pacscore-vitl",)),
            ("refpac-s-l14", "RefPAC-S", ("refpacscore-vitl",)),
            ("pac-s++", "PAC-S++", ("pacscorepp",)),
            ("refpac-s++", "RefPAC-S++", ("refpacscorepp",)),
            ("fleur", "FLEUR", ()),
            ("reffleur", "RefFLEUR", ()),
        )
        for alias in (evaluator, *aliases)
    }
)
"""By the lower-case name. Source: CaptionEvalKit 0.1.3, names of its metrics and keys of its output."""

_ELSEWHERE = frozenset(
    (
        "clipscore-vitl",
        "clipscoreavg",
        "pacscoreavg",
        "pacscoreppavg",
        "meteor",
        "spice",
        "jaspice",
        "polos",
        "vela",
        "expert",
    )
)
"""Metrics of CaptionEvalKit, in lower case, that nothing here computes."""

_BESIDE = frozenset(("bleu", "rouge", "cider"))
"""Metrics of CaptionEvalKit, in lower case, that stand beside a score of pictures."""


def published_name(reference: str) -> PublishedName | None:
    """Return the metric that a publisher's or CaptionEvalKit's name means; None where it is no such name.

    Raises:
        InvalidInput: for a metric of CaptionEvalKit that is not here.

    Example:
        >>> published_name("PACScore")
        PublishedName(evaluator='pac-s', shown='PAC-S')
    """
    name = reference.lower()
    if name in _ELSEWHERE:
        raise InvalidInput(f"{reference} is not computed here; 'python -m core evaluators' lists what is")
    if name in _BESIDE:
        raise InvalidInput(
            f"{reference} is no evaluator of pictures; it stands beside one with --compute_other_ref_metrics 1"
        )
    return _KNOWN.get(name)
