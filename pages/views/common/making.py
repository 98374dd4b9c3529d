"""Edits that a session has made, counted as what it scores is."""

from collections.abc import Sequence

from core.probes.base import Probe, Subject
from core.scoring.workbench import Workbench
from pages.views.common.quota import metered_here


def make_counted(bench: Workbench, probes: Sequence[Probe], subject: Subject | None = None) -> None:
    """Make the variants that the bench does not hold yet, counted for this session; what it holds costs nothing.

    Args:
        bench: keeps what is made, for every session.
        probes: whose variants are drawn or scored next.
        subject: the caption beside them; None: edits of the picture alone.

    Raises:
        NotAvailable: where something is to be made and a viewer took what they may; says when there is time again.
    """
    missing = [probe for probe in probes if not bench.holds(probe, subject)]
    if not missing:
        return
    with metered_here()():
        for probe in missing:
            bench.make(probe, subject)
