"""A tiny bottom-up-attention checkpoint as its publisher writes it: pytorch_model.bin and config.yaml."""

from pathlib import Path

import torch

STEM, GROUP_WIDTH, RES2, HIDDEN = 8, 4, 16, 12
"""Channels of the stem, of res2's inner and outer convolutions, and of the proposal network."""
BLOCKS = {"backbone.res2": 2, "backbone.res3": 1, "backbone.res4": 2, "roi_heads.res5": 2}
CLASSES, ATTRIBUTES = 9, 5
SIZES, RATIOS = (64, 128, 256, 512), (0.5, 1.0, 2.0)
CONFIG = """\
version: 2
model:
    load_proposals: false
    device: cpu
    max_pool: true
    chkpoint: ""
    pixel_mean: [102.9801, 115.9465, 122.7717]
    pixel_std: [1.0, 1.0, 1.0]
resnets:
    depth: 101
    norm: BN
    stride_in_1x1: true
rpn:
    nms_thresh: 0.7
    pre_nms_topk_test: 6000
    bbox_reg_weights: !!python/tuple [1.0, 1.0, 1.0, 1.0]
roi_box_head:
    res5halve: false
    pooler_resolution: 14
roi_heads:
    nms_thresh_test: [0.3, 0.5]
min_detections: 36
max_detections: 36
"""


def frcnn_state(
    *,
    seed: int = 0,
    blocks: dict[str, int] = BLOCKS,
    stem: int = STEM,
    group_width: int = GROUP_WIDTH,
    res2: int = RES2,
    hidden: int = HIDDEN,
    classes: int = CLASSES,
    attributes: int = ATTRIBUTES,
) -> dict[str, torch.Tensor]:
    """Tensors by the publisher's names."""
    rng = torch.Generator().manual_seed(seed)
    state: dict[str, torch.Tensor] = {}

    def normal(*shape: int, spread: float) -> torch.Tensor:
        return spread * torch.randn(*shape, generator=rng)

    def linear(name: str, given: int, made: int, *, side: int = 0, spread: float = 1.0) -> None:
        sides = (side, side) if side else ()
        state[f"{name}.weight"] = normal(made, given, *sides, spread=spread * (given * max(side, 1) ** 2) ** -0.5)
        state[f"{name}.bias"] = normal(made, spread=0.1)

    def normed(name: str, given: int, made: int, side: int) -> None:
        state[f"{name}.weight"] = normal(made, given, side, side, spread=(2 / (given * side**2)) ** 0.5)
        state[f"{name}.norm.weight"] = 0.7 + normal(made, spread=0.05)
        for part in ("bias", "running_mean"):
            state[f"{name}.norm.{part}"] = normal(made, spread=0.1)
        state[f"{name}.norm.running_var"] = 1.0 + normal(made, spread=0.1).abs()
        state[f"{name}.norm.num_batches_tracked"] = torch.tensor([0])

    normed("backbone.stem.conv1", 3, stem, 7)
    state["backbone.stem.conv1.norm.running_var"] *= 60.0**2  # pixels are not of unit size
    state["backbone.stem.conv1.norm.running_mean"] *= 60.0
    given = stem
    for rank, (stage, count) in enumerate(blocks.items()):
        inner, made = group_width * 2**rank, res2 * 2**rank
        for block in range(count):
            name = f"{stage}.{block}"
            if given != made:
                normed(f"{name}.shortcut", given, made, 1)
            for part, (before, after, side) in enumerate([(given, inner, 1), (inner, inner, 3), (inner, made, 1)], 1):
                normed(f"{name}.conv{part}", before, after, side)
            given = made
        if rank == 2:
            _proposal_network(state, linear, made, hidden)
    head = "roi_heads.box_predictor"
    linear(f"{head}.cls_score", given, classes + 1, spread=8.0)
    linear(f"{head}.bbox_pred", given, 4 * classes)
    state[f"{head}.cls_embedding.weight"] = normal(classes + 1, given // 8, spread=1.0)
    linear(f"{head}.fc_attr", given + given // 8, given // 4)
    linear(f"{head}.attr_score", given // 4, attributes + 1)
    return state


def write_frcnn(folder: Path, *, seed: int = 0, config: str | None = CONFIG) -> dict[str, torch.Tensor]:
    """Write ``pytorch_model.bin`` and ``config.yaml``; return the tensors."""
    folder.mkdir(parents=True, exist_ok=True)
    state = frcnn_state(seed=seed)
    torch.save(state, folder / "pytorch_model.bin")
    if config is not None:
        (folder / "config.yaml").write_text(config, encoding="utf-8")
    return state


def cells() -> torch.Tensor:
    """The anchors of one cell, [12, 4]."""
    sides = [(size / ratio**0.5, size * ratio**0.5) for size in SIZES for ratio in RATIOS]
    return torch.tensor([[-width / 2, -height / 2, width / 2, height / 2] for width, height in sides])


def _proposal_network(state: dict[str, torch.Tensor], linear, given: int, hidden: int) -> None:  # type: ignore[no-untyped-def]
    anchors = cells()
    head = "proposal_generator.rpn_head"
    state["proposal_generator.anchor_generator.cell_anchors.0"] = anchors
    linear(f"{head}.conv", given, hidden, side=3)
    linear(f"{head}.objectness_logits", hidden, len(anchors), side=1)
    linear(f"{head}.anchor_deltas", hidden, 4 * len(anchors), side=1, spread=0.3)
