"""Faster R-CNN over a ResNet's fourth stage, built from the publisher's tensors: bottom-up attention's network. What
they do not say stands in the config.yaml beside them. Boxes are float32 [n, 4]: left, top, right, bottom, in pixels of
the picture that entered the network."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from torch import Tensor, nn
from torch.nn import functional
from torchvision.ops import clip_boxes_to_image, nms, roi_pool

from core.errors import InvalidInput, NotAvailable
from core.evaluators.weights.checkpoints import State, read_state

CONFIG = "config.yaml"
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Number = Annotated[float, Field(allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Pixels(_Section):
    """How pixels enter."""

    pixel_mean: tuple[_Number, _Number, _Number] = (
        102.9801,
        115.9465,
        122.7717,
    )  # taken off blue, green and red, in [0, 255]
    pixel_std: tuple[_Positive, _Positive, _Positive] = (1.0, 1.0, 1.0)  # what they are divided by
    # whether the stem pools as Caffe does: nothing added at the border, the last window cut off
    max_pool: bool = True


class ResNets(_Section):
    """The residual blocks: batch norm, and whether the first 1×1 convolution strides (Caffe) or the 3×3 one."""

    norm: Literal["BN"] = "BN"
    stride_in_1x1: bool = True


class AnchorGenerator(_Section):
    """Where anchors lie in a cell of the feature map: 0 its corner, 0.5 its middle."""

    offset: Annotated[float, Field(ge=0, lt=1)] = 0.0


class Rpn(_Section):
    """The region proposal network: scale of its deltas, overlap above which the less sure box goes, boxes compared."""

    bbox_reg_weights: tuple[_Positive, _Positive, _Positive, _Positive] = (1.0, 1.0, 1.0, 1.0)
    nms_thresh: Annotated[float, Field(gt=0, le=1)] = 0.7
    pre_nms_topk_test: Annotated[int, Field(gt=0)] = 6000


class RoiBoxHead(_Section):
    """The head: side of a pooled region, and whether res5 strides (else it is dilated, as bottom-up attention's)."""

    pooler_resolution: Annotated[int, Field(gt=0, le=64)] = 14
    res5halve: bool = False


class Recipe(_Section):
    """The entries of config.yaml that change what the network computes, bottom-up attention's own where one is absent.
    The other entries are left aside: how many regions are kept (the publisher keeps 36) and how large a picture is made
    are UMIC's settings; the order of colours is blue first whatever the file says, as the means are.
    Source: Anderson et al. 2018, section 3.1; https://github.com/peteanderson80/bottom-up-attention,
    faster_rcnn_end2end_final/test.prototxt; https://github.com/airsplay/py-bottom-up-attention, its VG configuration.
    """

    model: Pixels = Pixels()
    resnets: ResNets = ResNets()
    anchor_generator: AnchorGenerator = AnchorGenerator()
    rpn: Rpn = Rpn()
    roi_box_head: RoiBoxHead = RoiBoxHead()


def read_recipe(path: Path) -> Recipe:
    """Read config.yaml; names may be in small letters or capitals. Without the file: bottom-up attention's numbers.
    Raises NotAvailable if it is no such file, or asks for what the network here cannot do; one sentence."""
    if not path.is_file():
        return Recipe()
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
        """Plain values, and Python's tuples as lists."""

    Loader.add_constructor("tag:yaml.org,2002:python/tuple", lambda loader, node: loader.construct_sequence(node))
    if path.stat().st_size > 1 << 20:
        raise NotAvailable(f"{path} has {path.stat().st_size:,} bytes and is no configuration; fetch it again")
    try:
        content = _lowered(yaml.load(path.read_text(encoding="utf-8"), Loader))  # safe: plain values only
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        why = " ".join(str(error).split())[:160]
        raise NotAvailable(f"{path} is not plain YAML ({why}); fetch it again") from error
    if not isinstance(content, dict):
        raise NotAvailable(f"{path} is no configuration of a detector but a {type(content).__name__}; fetch it again")
    try:
        return Recipe.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        why = f"{path}: {where}: {first['msg']}, got {first['input']!r}; give the publisher's file"
        raise NotAvailable(why) from error


def _lowered(value: Any) -> Any:
    return {str(key).lower(): _lowered(each) for key, each in value.items()} if isinstance(value, dict) else value


def anchors(cells: Tensor, height: int, width: int, *, stride: int, offset: float = 0.0) -> Tensor:
    """Lay the anchors of one cell over a feature map.
    ``cells``: [a, 4], around the origin. ``offset``: where in its cell an anchor's middle lies, in [0, 1).
    Returns [height · width · a, 4], row by row, the anchors of a cell together."""
    down, right = ((torch.arange(count, device=cells.device) + offset) * stride for count in (height, width))
    y, x = torch.meshgrid(down.to(cells.dtype), right.to(cells.dtype), indexing="ij")
    shifts = torch.stack([x, y, x, y], dim=-1).reshape(-1, 1, 4)
    return (shifts + cells).reshape(-1, 4)


def decoded(deltas: Tensor, boxes: Tensor, scale: tuple[float, float, float, float]) -> Tensor:
    """Move and grow boxes by what the network says.
    ``deltas``: [n, 4]: shift of the middle in widths and heights of the box, logarithms of its growth.
    ``scale``: what the four deltas are divided by. Source: Girshick et al. 2014, appendix C."""
    sides = boxes[:, 2:] - boxes[:, :2]
    middles = boxes[:, :2] + 0.5 * sides
    deltas = deltas / deltas.new_tensor(scale)
    middles = deltas[:, :2] * sides + middles
    most = math.log(1000 / 16)  # that a side may grow: from 16 to 1000 pixels. Source: Detectron
    sides = deltas[:, 2:].clamp(max=most).exp() * sides
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
    ``boxes``: [n, 4]; what lies outside the picture is cut off.
    ``logits``: [n]: how sure the network is that there is an object.
    ``considered``: how many of the surest are compared.
    ``overlap``: intersection over union above which the less sure of two boxes goes.
    ``least_side``: narrower and lower boxes go, unless no other is left. Returns [m, 4] with 1 ≤ m ≤ ``most``."""
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
    ``boxes``: [n, 4]. ``scores``: [n, classes], the background left out.
    ``overlap``: intersection over union above which the less sure of two regions goes, class by class.
    Returns [n], in [0, 1]; 0 for a region that goes in every class.
    Source: https://github.com/peteanderson80/bottom-up-attention, tools/generate_tsv.py."""
    boxes, scores = boxes.cpu(), scores.cpu()  # many small steps: a device would wait for each
    best = torch.zeros(len(boxes))
    for each in scores.amax(dim=0).argsort(descending=True).tolist():
        column = scores[:, each]
        if (column > best).any():  # else the class cannot raise any region's confidence
            kept = nms(boxes, column, overlap)
            best[kept] = torch.maximum(best[kept], column[kept])
    return best


STRIDE = 16  # pixels between two cells of the feature map
CPU_ROIS, DEVICE_ROIS = 16, 128  # regions at once: few stay in a CPU's caches; on a card, each needs 5 MB in res5
_EPSILON = 1e-5  # of batch norm


def load_faster_rcnn(path: Path, recipe: Recipe) -> "FasterRcnn":
    """Return the network of a checkpoint, in evaluation mode, float32, on the CPU; widths and depth are its tensors'.
    Raises NotAvailable if the file cannot be read or holds another network; one sentence."""
    tensors = _Tensors(path, read_state(path))
    try:
        network = FasterRcnn(tensors, recipe).eval().to(memory_format=torch.channels_last)
        with torch.inference_mode():
            network(torch.zeros(1, 3, 2 * STRIDE, 2 * STRIDE), most=1)
    except NotAvailable:
        raise
    except RuntimeError as error:
        why = " ".join(str(error).split())[:160]
        raise NotAvailable(f"{path}: its tensors do not fit together ({why}); give the publisher's file") from error
    except InvalidInput as error:
        raise NotAvailable(f"{path}: {error}") from error
    return network


class FasterRcnn(nn.Module):
    """Picture in, regions with features and class probabilities out.
    Batch norm stands in the convolutions that it follows; the tensors that predict attributes and refine boxes are left
    aside, because UNITER's regions have neither.
    Source: Ren et al. 2015; Anderson et al. 2018, section 3.1; names of tensors as in
    https://huggingface.co/unc-nlp/frcnn-vg-finetuned."""

    def __init__(self, tensors: "_Tensors", recipe: Recipe) -> None:
        super().__init__()
        self.recipe = recipe
        head = recipe.roi_box_head
        first = recipe.resnets.stride_in_1x1
        self.stem = tensors.convolution("backbone.stem.conv1", stride=2, padding=3)
        strides = {"backbone.res2": 1, "backbone.res3": 2, "backbone.res4": 2}
        self.stages = nn.Sequential(*(tensors.stage(name, first, stride=each) for name, each in strides.items()))
        self.shared = tensors.convolution("proposal_generator.rpn_head.conv", padding=1, normed=False)
        self.objectness = tensors.convolution("proposal_generator.rpn_head.objectness_logits", normed=False)
        self.deltas = tensors.convolution("proposal_generator.rpn_head.anchor_deltas", normed=False)
        self.register_buffer("cells", tensors.take("proposal_generator.anchor_generator.cell_anchors.0", 2))
        striding = (2, 1) if head.res5halve else (1, 2)
        self.res5 = tensors.stage("roi_heads.res5", first, stride=striding[0], dilation=striding[1])
        self.classes = tensors.linear("roi_heads.box_predictor.cls_score")
        self.width = self.classes.in_features  # length of a region's feature, 2048 for bottom-up attention
        count, told = len(self.get_buffer("cells")), (self.objectness.out_channels, self.deltas.out_channels)
        if told != (count, 4 * count):
            raise NotAvailable(
                f"{tensors.path}: {count} anchors need {count} and {4 * count} outputs, but its proposal network has "
                f"{told[0]} and {told[1]}; give the pytorch_model.bin of unc-nlp/frcnn-vg-finetuned"
            )

    def forward(self, pictures: Tensor, *, most: int, least_side: float = 0.0) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Find regions. ``pictures``: float32 [n, 3, h, w], blue first, the mean taken off.
        ``most``: regions that are kept of a picture.
        ``least_side``: pixels that a region's sides have at least, where any region has.
        Returns for each picture boxes [m, 4], features [m, d], and probabilities [m, classes] without the background.
        Raises InvalidInput if the network gives no finite number."""
        size, caffe = (pictures.shape[2], pictures.shape[3]), self.recipe.model.max_pool
        stem = functional.max_pool2d(
            self.stem(self._laid_out(pictures)).relu_(), 3, stride=2, padding=0 if caffe else 1, ceil_mode=caffe
        )
        maps = self.stages(stem)  # [n, c, h / 16, w / 16]
        boxes = self._proposals(maps, size, most=most, least_side=least_side)
        # the feature of a box is the mean of res5 over the pooled region
        rows = torch.tensor([len(each) for each in boxes], device=maps.device)
        picture = torch.repeat_interleave(torch.arange(len(boxes), device=maps.device), rows)
        regions = torch.cat([picture[:, None].to(maps.dtype), torch.cat(boxes)], dim=1)
        side = self.recipe.roi_box_head.pooler_resolution
        together = CPU_ROIS if maps.device.type == "cpu" else DEVICE_ROIS
        parts = (roi_pool(maps, part, side, spatial_scale=1 / STRIDE) for part in regions.split(together))
        features = torch.cat([self.res5(self._laid_out(part)).mean(dim=(2, 3)) for part in parts])
        _check_finite(features)
        scores = self.classes(features).softmax(dim=-1)[:, :-1]  # the last class is the background
        counts = [len(each) for each in boxes]
        return list(zip(boxes, features.split(counts), scores.split(counts), strict=True))

    def _proposals(self, maps: Tensor, size: tuple[int, int], *, most: int, least_side: float) -> list[Tensor]:
        """Boxes [m, 4] of each picture, the likeliest object first."""
        rpn, count = self.recipe.rpn, len(maps)
        hidden = self.shared(maps).relu_()
        logits = self.objectness(hidden).permute(0, 2, 3, 1).reshape(count, -1)
        deltas = self.deltas(hidden).unflatten(1, (-1, 4)).permute(0, 3, 4, 1, 2).reshape(count, -1, 4)
        offset = self.recipe.anchor_generator.offset
        cells = anchors(self.get_buffer("cells"), *maps.shape[2:], stride=STRIDE, offset=offset)
        _check_finite(logits, deltas)
        return [
            proposed(
                decoded(deltas[each], cells, rpn.bbox_reg_weights),
                logits[each],
                size,
                considered=rpn.pre_nms_topk_test,
                overlap=rpn.nms_thresh,
                most=most,
                least_side=least_side,
            )
            for each in range(count)
        ]

    @staticmethod
    def _laid_out(values: Tensor) -> Tensor:
        """Channels last in memory on a CPU, where convolutions then take a tenth less time."""
        return values.contiguous(memory_format=torch.channels_last) if values.device.type == "cpu" else values


def _check_finite(*tensors: Tensor) -> None:
    if not all(bool(torch.isfinite(each).all()) for each in tensors):
        raise InvalidInput("the detector gives no finite number; its weights are damaged: fetch them again")


class _Block(nn.Module):
    def __init__(self, tensors: "_Tensors", name: str, first: bool, *, stride: int, dilation: int) -> None:
        super().__init__()
        strides = (stride, 1) if first else (1, stride)
        self.conv1 = tensors.convolution(f"{name}.conv1", stride=strides[0])
        self.conv2 = tensors.convolution(
            f"{name}.conv2", stride=strides[1], padding=dilation, dilation=dilation, given=self.conv1.out_channels
        )
        self.conv3 = tensors.convolution(f"{name}.conv3")
        beside = f"{name}.shortcut"
        self.shortcut = tensors.convolution(beside, stride=stride) if tensors.has(beside) else nn.Identity()

    def forward(self, values: Tensor) -> Tensor:
        inner = self.conv2(self.conv1(values).relu_()).relu_()
        found: Tensor = self.conv3(inner).add_(self.shortcut(values)).relu_()
        return found


class _Tensors:
    """The tensors of a checkpoint, taken by name, as layers."""

    def __init__(self, path: Path, state: State) -> None:
        self.path, self._state = path, state

    def has(self, name: str) -> bool:
        return f"{name}.weight" in self._state

    def take(self, name: str, dimensions: int) -> Tensor:
        found = self._state.get(name)
        if found is None:
            raise NotAvailable(
                f"{self.path} holds no bottom-up-attention detector: it lacks the tensor {name!r}; give the "
                f"pytorch_model.bin of unc-nlp/frcnn-vg-finetuned"
            )
        if found.ndim != dimensions or not found.numel():
            raise NotAvailable(f"{self.path}: tensor {name!r} has the shape {list(found.shape)}; give another file")
        return found.to(torch.float32, copy=True)  # of a mapped file, no page is kept

    def convolution(
        self, name: str, *, stride: int = 1, padding: int = 0, dilation: int = 1, given: int = 0, normed: bool = True
    ) -> nn.Conv2d:
        weight = self.take(f"{name}.weight", 4)
        if normed:  # the batch norm that follows is put into the convolution
            parts = ("weight", "bias", "running_mean", "running_var")
            scale, shift, mean, variance = (self.take(f"{name}.norm.{part}", 1).double() for part in parts)
            scale = scale / (variance + _EPSILON).sqrt()
            weight = (weight.double() * scale[:, None, None, None]).float()
            bias = (shift - mean * scale).float()
        else:
            bias = self.take(f"{name}.bias", 1)
        made, inputs, height, width = weight.shape
        groups = max(1, given // inputs)
        layer = nn.Conv2d(inputs * groups, made, (height, width), stride, padding, dilation, groups, device="meta")
        layer.weight, layer.bias = (nn.Parameter(each, requires_grad=False) for each in (weight, bias))
        return layer

    def linear(self, name: str) -> nn.Linear:
        weight = self.take(f"{name}.weight", 2)
        layer = nn.Linear(weight.shape[1], weight.shape[0], device="meta")
        layer.weight = nn.Parameter(weight, requires_grad=False)
        layer.bias = nn.Parameter(self.take(f"{name}.bias", 1), requires_grad=False)
        return layer

    def stage(self, name: str, first: bool, *, stride: int, dilation: int = 1) -> nn.Sequential:
        numbers = {rest.split(".")[0] for each in self._state if (rest := each.removeprefix(f"{name}.")) != each}
        count = max((int(number) + 1 for number in numbers if number.isdecimal()), default=1)
        count = min(count, len(self._state))  # a made-up number is not a depth
        given: dict[str, Any] = {"tensors": self, "first": first, "dilation": dilation}
        return nn.Sequential(*(_Block(name=f"{name}.{at}", stride=1 if at else stride, **given) for at in range(count)))
