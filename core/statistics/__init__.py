"""Statistics: arrays in, numbers or dataclasses out, every function held against an independent reference in the tests.

It may import nothing but the foundation (errors, seeds, settings): it knows no run, no store and no page.
Start at :mod:`core.statistics.bootstrap`, from which every interval comes.
"""

__all__ = [
    "agreement",
    "bootstrap",
    "factors",
    "mixed_model",
    "rank_agreement",
    "shift_pairs",
    "shift_tests",
]
