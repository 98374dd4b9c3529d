"""Captions from templates: the bare one, the modified one, and the neutral one of the same length.

Templates: base ``There is a [object].``, attribute ``There is a [adjective] [object].``, with the right
article and number. Source: paper A, 3.1 and A.3.
"""

from collections.abc import Callable, Iterable

from core.corpora.schema import Item
from core.errors import ProbeRejected
from core.probes.words.grammar import noun_group
from core.probes.words.lexicons import Modifier
from core.probes.words.screening import accepted_controls


def base_caption(label: str) -> str:
    """Return the bare caption of a label.

    Raises:
        InvalidInput: if the label is empty.

    Example:
        >>> base_caption("umbrella"), base_caption("scissors"), base_caption("broccoli")
        ('There is an umbrella.', 'There are scissors.', 'There is broccoli.')
    """
    return f"There {noun_group(label)}."


def attribute_caption(label: str, adjective: str) -> str:
    """Return the caption of a label with one modifier before it.

    Args:
        label: noun of the object, as the corpus names it.
        adjective: adjective, or noun used attributively, in the casing of the lexicon.

    Raises:
        InvalidInput: if either is empty.

    Example:
        >>> attribute_caption("umbrella", "plain"), attribute_caption("bed", "African")
        ('There is a plain umbrella.', 'There is an African bed.')
    """
    return f"There {noun_group(label, adjective=adjective)}."


def length_matched(
    family: str, caption: str, label: str, *, count_tokens: Callable[[str], int | None] | None = None
) -> str:
    """Name the neutral control whose caption is the closest in length: the baseline of a modified caption.

    Closest in characters (Unicode code points of the whole caption, article included), then in tokens,
    then first in the alphabet. Controls that the screen keeps away from this noun do not compete.

    Args:
        family: a family of the lexicon, e.g. ``cultural``.
        caption: the modified caption.
        label: the noun that it was made of.
        count_tokens: counts the tokens of a caption by the evaluator's own tokenizer; may return None.

    Returns:
        A probe name, e.g. ``cultural:typical``.

    Raises:
        UnknownName: if there is no such family.
        InvalidInput: if the label is empty.

    Example:
        >>> length_matched("cultural", "There is a Russian bed.", "bed")
        'cultural:typical'
    """

    return closest_control(
        accepted_controls(label, family),
        caption,
        lambda word: attribute_caption(label, word),
        count_tokens=count_tokens,
    ).probe


def closest_control(
    controls: Iterable[Modifier],
    caption: str,
    write: Callable[[str], str],
    *,
    count_tokens: Callable[[str], int | None] | None = None,
) -> Modifier:
    """The neutral control whose caption is the closest in length, as :func:`length_matched` says.

    Args:
        controls: at least one.
        caption: the modified caption.
        write: makes the caption of a control's word.
        count_tokens: as there.
    """

    def distance(word: str) -> tuple[int, int, str]:
        control = write(word)
        return abs(len(control) - len(caption)), _token_distance(caption, control, count_tokens), word

    return min(controls, key=lambda each: distance(each.word))


def _token_distance(caption: str, control: str, count_tokens: Callable[[str], int | None] | None) -> int:
    if count_tokens is None:
        return 0
    first, second = count_tokens(caption), count_tokens(control)
    return 0 if first is None or second is None else abs(first - second)


def item_label(item: Item) -> str:
    """Return the label of an item.

    Raises:
        ProbeRejected: ``no-label`` where it has none.
    """
    if item.label is None or not item.label.split():
        raise ProbeRejected("no-label", f"item {item.id!r} has no label, so no caption can be made of the template")
    return item.label
