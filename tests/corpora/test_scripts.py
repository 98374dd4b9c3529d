"""The language of captions that state none, in every corpus of one's own files."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from core.corpora.registry import find
from core.corpora.schema import Corpus
from tests.corpora.footage import moving, write_video

CAT, ON, TWO = "猫がいる", "机の上の猫", "黒猫二匹"
"""Japanese; the last has no kana."""


def folder(root: Path, captions: list[str]) -> str:
    Image.new("RGB", (100, 80)).save(root / "a.jpg")
    (root / "captions.json").write_text(json.dumps({"a.jpg": captions}), encoding="utf-8")
    return "folder"


def pairs(root: Path, captions: list[str]) -> str:
    Image.new("RGB", (100, 80)).save(root / "a.jpg")
    lines = [json.dumps({"image": "a.jpg", "right": each, "wrong": f"{each}!"}) for each in captions]
    (root / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return "pairs"


def videos(root: Path, captions: list[str]) -> str:
    write_video(root / "a.mp4", moving("red", 6))
    (root / "captions.json").write_text(json.dumps({"a": captions}), encoding="utf-8")
    return "videos"


Write = Callable[[Path, list[str]], str]


def spoken(corpus: Corpus) -> set[str]:
    return {language for item in corpus.items for language in (*item.captions, *item.wrong)}


@pytest.mark.parametrize("write", [folder, pairs, videos])
def test_captions_have_the_language_of_their_script_or_the_one_that_is_said(tmp_path: Path, write: Write) -> None:
    name = write(tmp_path, [CAT, ON, TWO])
    assert spoken(find(name).load(tmp_path)) == {"ja"}
    assert spoken(find(name).load(tmp_path, language="zh")) == {"zh"}
    write(tmp_path, ["Ein Hund.", "Кот на столе."])
    assert spoken(find(name).load(tmp_path)) == {"en", "ru"}
    write(tmp_path, [f"Ein Hund und {number} Katzen." for number in range(20)])
    (remark,) = (each for each in find(name).load(tmp_path).remarks if each.code == "caption-language")
    assert remark.count == 1
