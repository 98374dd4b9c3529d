"""Boxes of a Faster R-CNN: anchors, decoding, what the proposal network keeps, and which regions are surest.

Boxes are float32 [n, 4]: left, top, right, bottom, in pixels of the picture that entered the network.
"""

import math

import torch
from torch import Tensor
from torchvision.ops import clip_boxes_to_image, nms

MOST_GROWTH = math.log(1000 / 16)
"""Most that a box may grow, as the logarithm of a side: from 16 to 1000 pixels. Source: Detectron."""


def anchors(cells: Tensor, height: int, width: int, *, stride: int, offset: float = 0.0) -> Tensor:
    """Lay the anchors of one cell over a feature map.

    Args:
        cells: [a, 4], around the origin.
        offset: where in its cell an anchor's middle lies, in [0, 1).

    Returns:
        [height · width · a, 4], row by row, the anchors of a cell together.
    """
    down, right = ((torch.arange(count, device=cells.device) + offset) * stride for count in (height, width))
    y, x = torch.meshgrid(down.to(cells.dtype), right.to(cells.dtype), indexing="ij")
    shifts = torch.stack([x, y, x, y], dim=-1).reshape(-1, 1, 4)
    return (shifts + cells).reshape(-1, 4)


def decoded(deltas: Tensor, boxes: Tensor, scale: tuple[float, float, float, float]) -> Tensor:
    """Move and grow boxes by what the network says.

    Args:
        deltas: [n, 4]: shift of the middle in widths and heights of the box, logarithms of its growth.
        boxes: [n, 4].
        scale: what the four deltas are divided by.

    Source: Girshick et al. 2014, appendix C.
    """
    sides = boxes[:, 2:] - boxes[:, :2]
    middles = boxes[:, :2] + 0.5 * sides
    deltas = deltas / deltas.new_tensor(scale)
    middles = deltas[:, :2] * sides + middles
    sides = deltas[:, 2:].clamp(max=MOST_GROWTH).exp() * sides
    return torch.cat([middles - 0.5 * sides, middles + 0.5 * sides], dim=1)


def proposed(
    boxes: Tensor,
    logits: Tensor,
    size: tuple[int, int],
    *,
    considered: int,
    overlap: float,
    most: int,
    least_side: float,
) -> Tensor:
    """Choose the boxes that are most likely an object, the surest first.

    Args:
        boxes: [n, 4]; what lies outside the picture is cut off.
        logits: [n]: how sure the network is that there is an object.
        size: height and width of the picture.
        considered: how many of the surest are compared.
        overlap: intersection over union above which the less sure of two boxes goes.
        most: how many are kept.
        least_side: narrower and lower boxes go, unless no other is left.

    Returns:
        [m, 4] with 1 ≤ m ≤ ``most``.
    """
    surest = logits.argsort(descending=True, stable=True)[:considered]
    boxes, logits = clip_boxes_to_image(boxes[surest], size), logits[surest]
    sides = (boxes[:, 2:] - boxes[:, :2]).amin(dim=1)
    for least in (least_side, 0.0):
        large = sides > least if least == 0.0 else sides >= least
        if large.any():
            break
    else:
        return boxes.new_tensor([[0.0, 0.0, size[1], size[0]]])
    boxes, logits = boxes[large], logits[large]
    return boxes[nms(boxes, logits, overlap)[:most]]


def confidence(boxes: Tensor, scores: Tensor, overlap: float) -> Tensor:
    """How sure a region is: its highest probability among the classes in which no surer region overlaps it.

    Args:
        boxes: [n, 4].
        scores: [n, classes], the background left out.
        overlap: intersection over union above which the less sure of two regions goes, class by class.

    Returns:
        [n], in [0, 1]; 0 for a region that goes in every class.

    Source: https://github.com/peteanderson80/bottom-up-attention, tools/generate_tsv.py.
    """
    boxes, scores = boxes.cpu(), scores.cpu()  # many small steps: a device would wait for each
    best = torch.zeros(len(boxes))
    for each in scores.amax(dim=0).argsort(descending=True).tolist():
        column = scores[:, each]
        if (column > best).any():  # else the class cannot raise any region's confidence
            kept = nms(boxes, column, overlap)
            best[kept] = torch.maximum(best[kept], column[kept])
    return best
