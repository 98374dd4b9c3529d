"""How two taggers select: counted by hand on a few captions, with one's own tagger."""

from collections.abc import Mapping

from core.analysis.tagging import CLEAR, MODIFIES, ONE, STEPS, TAKEN, compare
from core.corpora.schema import Item
from core.probes.words.taggers import ObjectNoun, Rules


class LastWord:
    """Every caption names one dog, and only its word before the last modifies it."""

    name, single = "last-word", True

    def objects(self, caption: str) -> tuple[ObjectNoun, ...]:
        return (ObjectNoun(0, 1, "dog", "animal"),)

    def modified(self, caption: str, start: int, end: int, *, noun: bool) -> ObjectNoun | None:
        return self.objects(caption)[0] if caption[end:].count(" ") == 1 else None

    def head(self, caption: str) -> ObjectNoun | None:
        return self.objects(caption)[0]

    def describe(self) -> Mapping[str, str]:
        return {"name": self.name}


def items(*captions: tuple[str, ...]) -> list[Item]:
    return [Item(f"i{place}", "test", None, 9, 9, captions={"en": texts}) for place, texts in enumerate(captions)]


def test_every_step_is_counted_as_by_hand() -> None:
    found = compare(
        items(("A sad dog.", "A happy dog runs"), ("A cat and a red car", "A sad dog.")), Rules(), LastWord()
    )
    assert found.captions == 3, "a text that stands twice is read once"
    rows = found.steps.set_index("step")
    assert list(rows.index) == list(STEPS)
    # sad, happy, red: the rules find all before their noun; the other finds sad and red, the last word but one
    assert rows.loc[MODIFIES, ["n", "n_one", "n_other", "n_both"]].tolist() == [3, 3, 2, 2]
    assert rows.loc[ONE, ["n", "n_one", "n_other", "n_both"]].tolist() == [3, 2, 3, 2]
    assert rows.loc[CLEAR, ["n", "n_one", "n_other", "n_both"]].tolist() == [3, 2, 2, 1]
    assert rows.loc[TAKEN, ["n_one", "n_other", "n_both"]].tolist() == [2, 1, 1]
    assert rows.loc[MODIFIES, "precision"] == 2 / 3
    assert rows.loc[MODIFIES, "recall"] == 1.0
    apart = found.apart[found.apart["step"] == MODIFIES]
    assert apart[["word", "one", "other", "caption"]].values.tolist() == [["happy", True, False, "A happy dog runs"]]


def test_no_caption_gives_no_number() -> None:
    found = compare(items(()), Rules(), LastWord())
    assert found.captions == 0
    assert found.apart.empty
    assert (found.steps["n"] == 0).all()
    assert found.steps["kappa"].isna().all()
