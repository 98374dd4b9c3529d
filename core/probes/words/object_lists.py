"""Templates that name several objects, their shuffles and their negations.

``There is a dog, a cat and a chair.``: the verb agrees with the first object. A shuffle keeps each noun phrase whole,
with its comma; its order is that of one draw for every word of the longest template, so that the shuffles of one, two
and three objects are one permutation seen through fewer words. Paper D's code glues surplus words on without a blank;
that is not copied. Source: paper D, 4.3 and 4.5.
"""

from collections.abc import Sequence

import numpy as np

from core.probes.words.grammar import Number, clean_label, noun_group, number_of


def named_objects(labels: Sequence[str]) -> str:
    """Name objects in one sentence.

    Example:
        >>> named_objects(["dog", "umbrella", "chair"])
        'There is a dog, an umbrella and a chair.'
    """
    return " ".join(_tokens(labels)) + "."


def denied_objects(labels: Sequence[str]) -> str:
    """Deny every one of some objects.

    Example:
        >>> denied_objects(["dog", "umbrella", "chair"])
        'There is no dog, no umbrella and no chair.'
    """
    verb = "are" if number_of(labels[0]) is Number.PLURAL else "is"
    said = [f"no {clean_label(label)}" for label in labels]
    return f"There {verb} {_listed(said)}."


def shuffled_objects(labels: Sequence[str], keys: Sequence[float]) -> str:
    """Name objects with the words in another order.

    Args:
        keys: one for *there*, the verb, each object in turn, and *and*; the words are sorted by them.
    """
    tokens = _tokens(labels)
    places = [0, 1, *(2 + index for index in range(len(labels)))]
    if len(labels) > 1:
        places.insert(len(places) - 1, len(keys) - 1)
    order = sorted(range(len(tokens)), key=lambda index: keys[places[index]])
    text = " ".join(tokens[index] for index in order).lower()
    return text[:1].upper() + text[1:] + "."


def draw_keys(rng: np.random.Generator, objects: int) -> tuple[float, ...]:
    """Draw the keys of a shuffle of at most ``objects`` objects; even that of one object is no longer in order."""
    keys = rng.random(objects + 3)
    while keys[0] < keys[1] < keys[2]:
        keys = rng.random(objects + 3)
    return tuple(float(key) for key in keys)


def _tokens(labels: Sequence[str]) -> list[str]:
    verb = "are" if number_of(labels[0]) is Number.PLURAL else "is"
    said = [noun_group(label).split(" ", 1)[1] for label in labels]
    commas = [f"{text}," for text in said[:-2]]
    last = [said[-2], "and", said[-1]] if len(said) > 1 else said
    return ["There", verb, *commas, *last]


def _listed(said: Sequence[str]) -> str:
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
