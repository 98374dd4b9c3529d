"""Build demo, demo-scenes, demo-prototypes and the demo videos: same stamps and packages, same bytes.

python -m tools.demo_corpus                     # fetch Debian's tuxpaint-stamps-default and write data/demo
python -m tools.demo_corpus --deb FILE          # from the package as a file
python -m tools.demo_corpus --stamps FOLDER     # from an unpacked usr/share/tuxpaint/stamps
"""

import argparse
import sys
from pathlib import Path

from core import settings
from core.commands._shared import progress
from core.errors import InvariscopeError
from tools.demo_corpus.build import build_demo


def main() -> int:
    """Build the corpus that the command line asks for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.demo_corpus", description="Build the demo corpus.")
    parser.add_argument("-o", "--output", type=Path, help="folder to write; default: data/demo")
    parser.add_argument("--stamps", type=Path, help="folder of an unpacked tuxpaint-stamps-default")
    parser.add_argument("--deb", type=Path, help="the .deb file of tuxpaint-stamps-default")
    chosen = parser.parse_args()
    try:
        with progress("demo", unit="items") as update:
            output = chosen.output or settings.data_dir() / "demo"
            folder = build_demo(output, stamps=chosen.stamps, deb=chosen.deb, progress=update)
    except InvariscopeError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(f"built in {folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
