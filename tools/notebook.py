"""Run docs/notebooks anew and keep what its cells print: after a change that moves a number or the Python API.

pip install nbclient ipykernel
python tools/notebook.py

The notebooks run in their own folder, with their own data. ``tests/test_notebooks.py`` runs their cells without
Jupyter, and refuses an output that names a folder of one machine.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "docs" / "notebooks"

PROGRESS = "audit: "
"""How a line of progress begins: the only one of stderr that is kept."""


def main() -> None:
    """Run every notebook and write it back."""
    import nbformat

    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            _run(notebook, Path(folder))
            _without_noise(notebook)
        nbformat.write(notebook, path)
        print(path.relative_to(ROOT))


def _run(notebook: Any, folder: Path) -> None:
    from nbclient import NotebookClient

    os.environ |= {"PYTHONPATH": str(ROOT), "INVARISCOPE_DATA": str(folder / "data")}
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()


def _without_noise(notebook: Any) -> None:
    """Take out when and by which Python the cells ran, and what libraries complain of; join the pieces of a stream."""
    notebook["metadata"] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["outputs"] = _joined(cell["outputs"])


def _joined(outputs: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for each in outputs:
        if kept and each["output_type"] == "stream" and kept[-1].get("name") == each["name"]:
            kept[-1]["text"] += each["text"]
        else:
            kept.append(each)
    for each in kept:
        if each.get("name") == "stderr":
            each["text"] = "".join(line for line in each["text"].splitlines(True) if line.startswith(PROGRESS))
    return [each for each in kept if each.get("text") != ""]


if __name__ == "__main__":
    main()
