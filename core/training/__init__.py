"""Training of metrics: losses, what is learned from, the loop with its checkpoints, what it gains on what is held out.

It may import what makes variants and scores them, and reads no run.
Start at :mod:`core.training.train_mcs` or :mod:`core.training.train_pr_mcs`; the loop of both is
:mod:`core.training.trainer`.
"""

__all__ = ["train_mcs", "train_pr_mcs", "trainer"]
