"""Files name two sources of a picture: what it shares with others, and a second thing that crosses it."""

from pathlib import Path

from PIL import Image

from core.corpora.folder import load_folder
from core.corpora.schema import Item


def test_a_folder_s_table_names_both_sources_or_one_or_none(tmp_path: Path) -> None:
    for place in range(4):
        Image.new("RGB", (64, 64), (40 * place, 90, 120)).save(tmp_path / f"{place}.png")
    rows = ["0.png,a cat,7,ann", "1.png,a dog,7,ben", "2.png,a hen,,ben", "3.png,a cow,,"]
    (tmp_path / "captions.csv").write_text("\n".join(["image,caption,item_group,second_group", *rows]))
    items = load_folder.load(tmp_path).items
    found = [(item.drawn_with("own pixels"), item.second_source) for item in items]
    assert found == [("7", "ann"), ("7", "ben"), ("own pixels", "ben"), ("own pixels", None)]


def test_an_item_names_its_sources_as_a_text_or_as_two() -> None:
    def of(group: str | tuple[str, ...] | None) -> tuple[str, str | None]:
        item = Item("i", "c", None, 64, 64, group=group)
        return item.drawn_with("pixels"), item.second_source

    assert of(None) == of(()) == of(("", "")) == ("pixels", None)
    assert of("frog") == of(("frog",)) == ("frog", None)
    assert of(("frog", "sand", "more")) == ("frog", "sand")
