"""Names that are proposed for a picture: of the classes that an evaluator sees, in words that a caption would use."""

import numpy as np

from core.corpora.item_pictures import read_item
from core.corpora.registry import catalogue
from core.evaluators.offline.class_texts import class_names
from core.evaluators.pool import shared_pool
from core.features.lab.proposal import LEAST, MANY, noun_of_class, propose


def test_every_class_has_a_noun_and_breeds_are_dogs_and_cats() -> None:
    nouns = noun_of_class()
    assert set(nouns) == {each.name for each in class_names()}
    for name, noun in [
        ("golden retriever", "dog"),
        ("Chihuahua", "dog"),
        ("tabby", "cat"),
        ("hotdog", "hot dog"),
        ("sea lion", "sea lion"),
        ("kite", "bird"),
        ("bald eagle", "eagle"),
        ("tree frog", "frog"),
        ("school bus", "bus"),
    ]:
        assert nouns[name] == noun, name


def test_a_photograph_of_a_frog_is_called_a_frog() -> None:
    frog = catalogue().get("demo").load().get("frog-1-10-20")
    found = propose(read_item(frog).pixels, pool=shared_pool())
    assert found[0].noun == "frog"
    assert found[0].evaluator == "conse-lite0"
    assert 1 <= len(found) <= MANY
    assert all(LEAST <= each.share <= 1 for each in found)
    assert [each.share for each in found] == sorted((each.share for each in found), reverse=True)


def test_nothing_is_proposed_where_no_evaluator_can_tell() -> None:
    assert propose(np.zeros((20, 20, 3), np.uint8), pool=shared_pool(), asked=("no-such",)) == ()
