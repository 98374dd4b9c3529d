"""Training of metrics: losses, triplets, the loop with its checkpoints, what it gains on held-out images.

It may import what makes variants and scores them, and reads no run.
Start at :mod:`core.training.pr_mcs`, the one metric that is trained so far.
"""

__all__ = ["pr_mcs", "trainer", "triplets"]
