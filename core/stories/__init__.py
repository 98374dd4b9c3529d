"""Stories: what a reader collects for others, slide by slide, as it was seen, and the tags and notes on pairs.

It may import the store, whose append-only log keeps every change.
Start at :mod:`core.stories.story`.
"""

__all__ = ["story"]
