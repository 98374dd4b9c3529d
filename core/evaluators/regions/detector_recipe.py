"""What a bottom-up-attention checkpoint's tensors do not say about its network, from the config.yaml beside it."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import NotAvailable

CONFIG = "config.yaml"
MOST_BYTES = 1 << 20
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Number = Annotated[float, Field(allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Pixels(_Section):
    """How pixels enter.

    Args:
        pixel_mean: what is taken off blue, green and red, in [0, 255].
        pixel_std: what they are divided by.
        max_pool: whether the stem pools as Caffe does: nothing added at the border, the last window cut off.
    """

    pixel_mean: tuple[_Number, _Number, _Number] = (102.9801, 115.9465, 122.7717)
    pixel_std: tuple[_Positive, _Positive, _Positive] = (1.0, 1.0, 1.0)
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

    The other entries are left aside: how many regions are kept (the publisher keeps 36) and how large a picture is
    made are UMIC's settings; the order of colours is blue first whatever the file says, as the means are.

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

    Raises:
        NotAvailable: if it is no such file, or asks for what the network here cannot do; one sentence.
    """
    if not path.is_file():
        return Recipe()
    content = _lowered(_yaml(path))
    if not isinstance(content, dict):
        raise NotAvailable(f"{path} is no configuration of a detector but a {type(content).__name__}; fetch it again")
    try:
        return Recipe.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise NotAvailable(
            f"{path}: {where}: {first['msg']}, got {first['input']!r}; give the publisher's file"
        ) from error


def _yaml(path: Path) -> Any:
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types
        """Plain values, and Python's tuples as lists."""

    Loader.add_constructor("tag:yaml.org,2002:python/tuple", lambda loader, node: loader.construct_sequence(node))
    if path.stat().st_size > MOST_BYTES:
        raise NotAvailable(f"{path} has {path.stat().st_size:,} bytes and is no configuration; fetch it again")
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader)  # safe: plain values only
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        why = " ".join(str(error).split())[:160]
        raise NotAvailable(f"{path} is not plain YAML ({why}); fetch it again") from error


def _lowered(value: Any) -> Any:
    return {str(key).lower(): _lowered(each) for key, each in value.items()} if isinstance(value, dict) else value
