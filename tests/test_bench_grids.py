"""What an audit saves against separate scoring depends on its grid: one asks much of a caption."""

from bench.audit_engine import GRIDS, _plan
from core.audit.request import choice_of


def test_the_largest_grid_has_the_caption_probes_and_the_pairs_that_its_goal_needs() -> None:
    shares = []
    for subjects, probes in GRIDS.values():
        plan = _plan(24, subject=choice_of(subjects), probes=probes, evaluators=["conse-lite0"])
        cost = plan.cost()
        shares.append(cost.pairs / cost.images)
    assert shares == sorted(shares)
    assert shares[-1] > 4  # else no engine could be four times as fast
    assert len(plan.caption_probes) >= 46
