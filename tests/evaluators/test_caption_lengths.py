"""Captions cut to their length: the features of all columns, whatever stands beside them; towers that must not be cut.

The reference is the libraries' own call on every column of each text alone: open_clip's ``encode_text``, transformers'
``get_text_features``.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import NotAvailable
from core.evaluators.registry import find
from core.evaluators.towers.clip import encode_tokens
from core.evaluators.towers.encoder import LENGTHS, Towers, first_place, lengths, open_clip_text
from tests.tiny import clip, hub

COUNTS = (3, 14, 15, 16, 17, 32, 33, 40, 48, 49, 75, 76, 77, 78, 200)
"""Tokens of a prompt, both markers among them."""
CLOSE = 1e-6
TOWERS = (
    "clipscore",
    "pac-s",
    "pac-s++",
    "pac-s-l14",
    "emscore",
    "pac-s++-video",
    "pickscore",
    "pickscore-2022",
    "open_clip",
    "open_clip-marked",
    "open_clip-short",
)


@dataclass(frozen=True)
class Tower:
    """A tower as users load it, and the same network asked by its library.

    Args:
        whole: raw embeddings of ids, all columns given.
        inner: what every column passes through, to count columns.
    """

    towers: Towers
    whole: Callable[[torch.Tensor], torch.Tensor]
    inner: Any

    def expected(self, texts: Sequence[str]) -> torch.Tensor:
        ids = self.towers.prompts.tokens(texts)
        with torch.inference_mode():
            return torch.nn.functional.normalize(torch.cat([self.whole(row[None]) for row in ids]), dim=-1)


def loaded(reference: str) -> Towers:
    found: Towers = find(reference).load()._towers  # type: ignore[attr-defined]
    return found


def of_open_clip(reference: str) -> Tower:
    towers = loaded(reference)
    network = towers.text.network
    return Tower(towers, network.encode_text, getattr(network, "text", network).transformer)


def of_transformers(folder: Path, marker: int) -> Tower:
    hub.write_hub_clip(folder / "pickscore-v1", folder / "laion-clip-vit-h-14-processor", marker=marker)
    towers = loaded(f"pickscore@{folder}")
    network = towers.text.network
    inner = network.text_model.encoder
    return Tower(towers, lambda ids: network.get_text_features(input_ids=ids).pooler_output, inner)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Tower]:
    folder = tmp_path_factory.mktemp("lengths")
    openai = clip.write_openai(folder / "openai.pt")
    pac = clip.write_pac(folder / "pac.pth", seed=3)
    lora = clip.write_pac(folder / "pac++.pth", lora=True)
    looks_back = {"context_length": 77, "no_causal_mask": False}
    own = {**looks_back, "pool_type": "argmax", "proj_type": "none", "hf_tokenizer_name": "", "vocab_size": 49408}
    marked = {**looks_back, "pool_type": "eos", "eos_id": 3}
    hub.write_open_clip(folder / "own", text=own)
    hub.write_open_clip(folder / "marked", text={**marked, "proj_bias": False})
    hub.write_open_clip(folder / "short", text={**marked, "context_length": 60})
    return {
        "clipscore": of_open_clip(f"clipscore@{openai}"),
        "pac-s": of_open_clip(f"pac-s@{pac}"),
        "pac-s++": of_open_clip(f"pac-s++@{lora}"),
        "pac-s-l14": of_open_clip(f"pac-s-l14@{pac}"),
        "emscore": of_open_clip(f"emscore@{openai}"),
        "pac-s++-video": of_open_clip(f"pac-s++-video@{lora}"),
        "pickscore": of_transformers(folder / "pick", 599),
        "pickscore-2022": of_transformers(folder / "pick-2022", 2),
        "open_clip": of_open_clip(f"siglip2@{folder / 'own'}"),
        "open_clip-marked": of_open_clip(f"siglip2@{folder / 'marked'}"),
        "open_clip-short": of_open_clip(f"siglip2@{folder / 'short'}"),
    }


@pytest.fixture(params=TOWERS)
def tower(request: pytest.FixtureRequest, built: dict[str, Tower]) -> Tower:
    return built[request.param]


def prompt(count: int) -> str:
    """A text of so many tokens under every tokenizer here: letters, each a word."""
    return " ".join("abcdefghijklmnopqrstuvwxyz"[(3 * index + count) % 26] for index in range(count - 2))


@contextmanager
def columns(inner: torch.nn.Module) -> Iterator[list[tuple[int, int]]]:
    """Texts and columns of each call of a transformer."""
    seen: list[tuple[int, int]] = []

    def note(_: object, args: tuple[torch.Tensor, ...], kwargs: dict[str, torch.Tensor]) -> None:
        given = args[0] if args else kwargs["inputs_embeds"]
        seen.append((given.shape[0], given.shape[1]))

    hook = inner.register_forward_pre_hook(note, with_kwargs=True)
    try:
        yield seen
    finally:
        hook.remove()


def apart(found: torch.Tensor, expected: torch.Tensor) -> float:
    return float((found - expected).abs().max())


def test_a_cut_caption_has_the_features_of_all_its_columns(tower: Tower) -> None:
    texts = [prompt(count) for count in COUNTS]
    assert [tower.towers.prompts.read(text).tokens for text in texts] == list(COUNTS)
    expected = tower.expected(texts)
    assert apart(expected[0], expected[-1]) > 0.01
    for text, row in zip(texts, expected, strict=True):
        assert apart(tower.towers.encode_texts([text])[0], row) <= CLOSE


def test_a_tower_is_given_the_fewest_columns_that_hold_each_caption(tower: Tower) -> None:
    limit = tower.towers.prompts.limit
    for count in COUNTS:
        with columns(tower.inner) as seen:
            tower.towers.encode_texts([prompt(count)])
        assert seen == [(1, min(each for each in (*LENGTHS[:3], limit) if each >= min(count, limit)))]


def test_lengths_in_one_batch_change_nothing_and_never_share_a_call(tower: Tower) -> None:
    texts = [prompt(count) for count in (17, 3, 200, 16, 40, 75, 14, 15, 33, 4)]
    with columns(tower.inner) as seen:
        together = tower.towers.encode_texts(texts)
    assert seen == [(5, 16), (1, 32), (2, 48), (2, tower.towers.prompts.limit)]
    assert apart(together, tower.expected(texts)) <= CLOSE
    assert apart(together, torch.cat([tower.towers.encode_texts([text]) for text in texts])) <= CLOSE


TEXTS = st.lists(st.text(max_size=120) | st.integers(3, 90).map(prompt), min_size=1, max_size=6)


@pytest.mark.parametrize("name", ["clipscore", "pac-s++", "pickscore", "open_clip-marked"])
def test_any_captions_in_any_order_have_the_features_of_all_columns(name: str, built: dict[str, Tower]) -> None:
    tower = built[name]

    @settings(max_examples=40, deadline=None)
    @given(texts=TEXTS)
    def holds(texts: list[str]) -> None:
        found = tower.towers.encode_texts(texts)
        assert apart(found, tower.expected(texts)) <= CLOSE
        assert apart(tower.towers.encode_texts(texts[::-1]).flip(0), found) <= CLOSE

    holds()


@pytest.mark.parametrize("name", ["emscore", "pac-s++-video"])
def test_every_token_of_a_cut_caption_has_the_features_of_all_its_columns(name: str, built: dict[str, Tower]) -> None:
    tower = built[name]
    network, texts = tower.towers.text.network, [prompt(count) for count in reversed(COUNTS)]
    with columns(tower.inner) as seen:
        found = encode_tokens(tower.towers, texts)
    assert seen == [(4, 16), (2, 32), (3, 48), (6, 77)]
    for text, (ids, vectors) in zip(texts, found, strict=True):
        states: list[torch.Tensor] = []
        hook = network.ln_final.register_forward_hook(lambda *call, kept=states: kept.append(call[-1]))
        with torch.no_grad():
            network.encode_text(tower.towers.prompts.tokens([text]))
            whole = torch.nn.functional.normalize(states[0][0] @ network.text_projection, dim=-1)
        hook.remove()
        assert vectors.shape == (len(ids), clip.DIMENSIONS)
        assert apart(torch.tensor(vectors), whole[: len(ids)]) <= CLOSE
    assert encode_tokens(tower.towers, []) == []


def test_siglip_is_given_all_its_columns_since_it_reads_its_padding(tmp_path: Path) -> None:
    hub.write_open_clip(tmp_path, text={"context_length": 64})
    tower = of_open_clip(f"siglip@{tmp_path}")
    texts = [prompt(3), prompt(40)]
    with columns(tower.inner) as seen:
        found = tower.towers.encode_texts(texts)
    assert seen == [(2, 64)]
    assert apart(found, tower.expected(texts)) <= CLOSE
    with torch.inference_mode():
        shorter = tower.whole(tower.towers.prompts.tokens(texts[:1])[:, :16])
    assert apart(torch.nn.functional.normalize(shorter, dim=-1), found[:1]) > 1e-3


def test_a_multilingual_encoder_is_asked_as_its_library_asks_it(tmp_path: Path) -> None:
    folder = hub.write_sentence_transformer(tmp_path / "clip-vit-b-32-multilingual")
    clip.write_openai(tmp_path / "ViT-B-32.pt")
    from sentence_transformers import SentenceTransformer

    found = loaded(f"mcs@{tmp_path}").encode_texts([prompt(20)])
    expected = SentenceTransformer(str(folder), device="cpu").encode([prompt(20)], normalize_embeddings=True)
    np.testing.assert_allclose(found, expected, atol=CLOSE, rtol=0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ({"no_causal_mask": True, "pool_type": "argmax"}, "attends both ways, as MobileCLIP-S"),
        ({"no_causal_mask": False, "pool_type": "last"}, "is read behind the padding"),
        ({"no_causal_mask": False, "pool_type": "argmax", "embed_cls": True}, "has a token behind the padding"),
        ({"no_causal_mask": False, "pool_type": "argmax", "output_tokens": True}, "gives more than an embedding"),
    ],
)
def test_an_open_clip_tower_that_needs_its_padding_is_not_cut(text: dict[str, Any], why: str) -> None:
    assert open_clip_text(custom(text)) is None, why
    assert open_clip_text(custom({"no_causal_mask": False, "pool_type": "argmax"})) is not None


def test_a_mask_that_shows_a_single_later_token_is_not_cut() -> None:
    network = custom({"no_causal_mask": False, "pool_type": "argmax"})
    network.text.attn_mask[2, 5] = 0.0
    assert open_clip_text(network) is None


def test_coca_is_not_cut() -> None:
    from open_clip.coca_model import CoCa

    shape = {
        key: value for key, value in hub.open_clip_config().items() if key not in ("custom_text", "init_logit_bias")
    }
    shape["text_cfg"] = {"context_length": 20, "width": 64, "heads": 1, "layers": 1, "embed_cls": True}
    decoder = {"context_length": 20, "width": 64, "heads": 1, "layers": 1}
    vision = {
        "image_size": 32,
        "patch_size": 16,
        "width": 64,
        "layers": 1,
        "attentional_pool": True,
        "output_tokens": True,
    }
    network = CoCa(**{**shape, "vision_cfg": vision, "embed_dim": 64}, multimodal_cfg=decoder)  # type: ignore[arg-type]
    assert open_clip_text(network) is None


def custom(text: dict[str, Any]) -> Any:
    from open_clip.model import CustomTextCLIP

    shape = hub.open_clip_config(**text)
    del shape["custom_text"]
    return CustomTextCLIP(**shape)


@given(limit=st.integers(1, 300))
def test_lengths_rise_to_the_limit(limit: int) -> None:
    found = lengths(limit)
    assert list(found) == sorted({*found})
    assert found[-1] == limit
    assert set(found[:-1]) <= set(LENGTHS)


def test_a_text_is_read_at_its_first_marker() -> None:
    ids = torch.tensor([[1, 9, 4, 9, 0], [1, 4, 2, 2, 2], [1, 4, 4, 4, 4]])
    assert first_place(ids, None).tolist() == [1, 1, 1]
    assert first_place(ids, 2).tolist() == [0, 2, 0]


def test_the_fingerprint_names_the_lengths_where_captions_are_cut(built: dict[str, Tower], tmp_path: Path) -> None:
    written = "the fewest of [16, 32, 48, 77] that hold the text"
    path = clip.write_openai(tmp_path / "openai.pt")
    for name in ("clipscore", "refclipscore", "pac-s", "emscore"):
        assert find(f"{name}@{path}").load().fingerprint.settings["text_columns"] == written
    assert built["pickscore"].towers.reading == {"max_tokens": 77, "text_columns": written}
    assert built["open_clip-short"].towers.reading["text_columns"] == written.replace("77", "60")
    hub.write_open_clip(tmp_path / "siglip", text={"context_length": 64})
    hub.write_sentence_transformer(tmp_path / "mcs" / "clip-vit-b-32-multilingual")
    clip.write_openai(tmp_path / "mcs" / "ViT-B-32.pt")
    for reference in (f"siglip@{tmp_path / 'siglip'}", f"mcs@{tmp_path / 'mcs'}"):
        assert "text_columns" not in find(reference).load().fingerprint.settings


def test_a_folder_that_names_no_closing_marker_is_one_sentence(tmp_path: Path) -> None:
    hub.write_hub_clip(tmp_path / "pickscore-v1", tmp_path / "laion-clip-vit-h-14-processor", marker=None)
    with pytest.raises(NotAvailable, match="names no closing marker"):
        find(f"pickscore@{tmp_path}").load()
