"""Photograph every page in a real Chromium, as the documents show it: light, 1280 px wide.

Run ``python tools/screenshots.py`` in a checkout; the pictures land in ``docs/screenshots``. With ``--all-looks`` each
page is also taken dark and 400 px wide.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    "start": "/",
    "try-a-picture": "/try_a_picture",
    "pictures": "/findings?view=failures",
    "findings": "/findings",
    "compare": "/findings?view=compare",
    "stories": "/stories",
    "flip-risk": "/leaderboard?view=flip_risk",
    "calibrate": "/calibrate",
    "does-it-notice": "/does_it_notice",
    "leaderboard": "/leaderboard",
    "geometry": "/calibrate?view=geometry",
    "suites": "/does_it_notice?view=suites",
    "video": "/try_a_picture?view=video",
    "new-run": "/runs?view=run_audit",
    "people": "/people",
    "runs": "/runs",
}
LOOKS = ((1280, "light"), (1280, "dark"), (400, "light"), (400, "dark"))
TALLEST = 2600
"""Height in px at which a long page is cut."""

LARGEST = 380_000
"""Size in bytes that a picture may have."""

QUIET = """(asked) => {
  const running = document.querySelector('.stApp').dataset.testScriptState !== 'notRunning';
  if (running || window.quiet?.asked !== asked) window.quiet = { asked, since: performance.now() };
  return performance.now() - window.quiet.since > 800;
}"""
"""Whether no script has run for a while: one that ends may call for the next."""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def main() -> int:
    """Start the app on a free port, photograph it, stop it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots", help="folder of the pictures")
    parser.add_argument("--url", help="address of a running app; otherwise one is started")
    parser.add_argument("--only", nargs="+", choices=PAGES, default=list(PAGES), help="pages; otherwise all of them")
    parser.add_argument("--all-looks", action="store_true", help="also dark and 400 px wide")
    options = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("no Chromium on the PATH; install the package chromium", file=sys.stderr)
        return 3
    options.out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as data:
        return _take(options, chromium, Path(data))


def _take(options: argparse.Namespace, chromium: str, data: Path) -> int:
    process, address = (None, options.url) if options.url else _start(data)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
            for name in options.only:
                path = PAGES[name]
                for width, scheme in LOOKS if options.all_looks else LOOKS[:1]:
                    picture = _photograph(browser, address + path, width, scheme)
                    _save(picture, options.out / f"{name}-{scheme}-{width}.png")
            browser.close()
    finally:
        if process is not None:
            process.terminate()
            process.wait(timeout=20)
    return 0


def _start(data: Path) -> tuple[subprocess.Popen[bytes], str]:
    for shipped in ("demo", "results"):
        (data / shipped).symlink_to(ROOT / "data" / shipped)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://localhost:{port}"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    told = {**os.environ, "INVARISCOPE_DATA": str(data)}
    study = [sys.executable, "-m", "core", "study", "create", "pilot", "--run", "demo", "--total", "60"]
    subprocess.run(study, cwd=ROOT, env=told, check=True, stdout=subprocess.DEVNULL)  # no vote: nothing is made up
    process = subprocess.Popen(command, cwd=ROOT, env=told, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        try:
            with urlopen(f"{address}/_stcore/health", timeout=2):
                return process, address
        except (URLError, OSError):
            time.sleep(0.2)
    process.terminate()
    raise SystemExit(f"the app did not start at {address}")


def _photograph(browser: Browser, address: str, width: int, scheme: str) -> bytes:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    _settle(page)
    height = page.evaluate("document.querySelector('.stMainBlockContainer').scrollHeight")
    page.set_viewport_size({"width": width, "height": min(int(height) + 40, TALLEST)})
    _settle(page)
    page.wait_for_timeout(1500)  # figures are drawn anew for the new height
    taken = page.screenshot()
    context.close()
    return taken


def _settle(page: Page) -> None:
    page.wait_for_selector("h1", timeout=120_000)
    page.wait_for_function(QUIET, arg=time.monotonic(), timeout=120_000)
    page.wait_for_function("!document.querySelector('[data-stale=true], [data-testid=stSkeleton]')", timeout=120_000)
    page.wait_for_function("[...document.images].every(image => image.complete)", timeout=120_000)


def _save(picture: bytes, path: Path) -> None:
    """Write a PNG of as many colours as fit into LARGEST bytes, rare ones kept: marks of a figure are small."""
    image = Image.open(BytesIO(picture)).convert("RGB")
    for colours in (256, 128, 64):
        method = Image.Quantize.MAXCOVERAGE
        image.quantize(colours, method=method, kmeans=1, dither=Image.Dither.NONE).save(path, optimize=True)
        if path.stat().st_size <= LARGEST:
            break
    print(f"{path} {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    sys.exit(main())
