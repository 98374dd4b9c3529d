"""QR codes of addresses, for phones."""

from qrcode.constants import ERROR_CORRECT_M
from qrcode.image.svg import SvgPathFillImage
from qrcode.main import QRCode


def code_svg(address: str) -> str:
    """The QR code of an address, dark on white with its quiet zone, as SVG."""
    code = QRCode(error_correction=ERROR_CORRECT_M, image_factory=SvgPathFillImage)
    code.add_data(address)
    return str(code.make_image().to_string(encoding="unicode"))
