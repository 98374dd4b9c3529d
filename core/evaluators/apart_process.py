"""The process that describes one evaluator of a file: ``python -m core.evaluators.apart_process REFERENCE ANSWER``."""

import json
import sys
from pathlib import Path

from core.errors import InvariscopeError
from core.evaluators.registry import find
from core.evaluators.remote import describe


def main(arguments: list[str]) -> None:
    """Describe the evaluator of a reference into a file as JSON, or say there why it cannot be."""
    reference, answer = arguments
    try:
        told = describe(find(reference))
    except InvariscopeError as error:
        told = {"problem": str(error)}
    Path(answer).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
