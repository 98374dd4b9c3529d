"""Training of metrics: losses, what is learned from, the loop with its checkpoints, what it gains on what is held out.

It may import what makes variants and scores them, and reads no run.
Start at :mod:`core.training.mcs` or :mod:`core.training.pr_mcs`; :mod:`core.training.trainer` is the loop of both.
"""

__all__ = ["mcs", "pr_mcs", "trainer"]
