"""Everything that scores at once instead of through an audit: the Probe lab, suites, systems, candidate files.

It may import what makes variants and scores them, and the store only to make a stored pair again.
Start at :mod:`core.scoring.workbench`, one image with the variants that probes make of it.
"""

__all__ = ["caption_scores", "suite_scores", "workbench"]
