"""Variants: one controlled edit of an item each, with the claim that it puts to the test.

It may import the corpora, whose items it edits, and never an evaluator: an edit cannot know who will score it.
Start at :mod:`core.probes.base`; the files of :mod:`core.probes.families` are the only ones that probes are looked
for in, with the pure edits beside them in ``pixels`` and ``words``.
"""

__all__ = ["base", "families", "registry", "scene"]
