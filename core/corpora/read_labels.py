"""The option of a loader whose source gives no labels: what is to read one off an item's caption.

Which readers there are is known to the right of this room, by :mod:`core.probes.caption_labels`, which reads.
"""

RULES = "rules"
"""The reader that needs no further package, and the default."""

NONE = "none"

OPTION = {
    "labels": "what reads a label off the English caption of an item without one: rules (default), spacy, or none",
}
"""Option of a loader -> what it means."""


def reader(labels: str) -> str:
    """Name the reader that an option asks for; empty where none is to read.

    Example:
        >>> reader("none"), reader("rules")
        ('', 'rules')
    """
    return "" if labels == NONE else labels
