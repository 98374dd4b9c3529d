"""``check --baseline`` from a shell: exit codes, what is said, and nothing written where it is refused."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.commands.calling import Invoke

METRIC = '''
import numpy as np

def metric(image, caption):
    """How bright a picture is, and how long its caption."""
    pixels = np.asarray(image, dtype=float)
    return float(FACTOR * (0.5 + pixels[: len(pixels) // 2].mean() / 2000) + (1 - FACTOR) * pixels.std() / 5000)
'''


def test_a_metric_is_held_against_what_it_showed_before(invoke: Invoke, tmp_path: Path) -> None:
    file, kept, out = tmp_path / "m.py", tmp_path / "kept.json", tmp_path / "out.json"
    few = ("--items", "16", "--probes", "vertical-flip,blur")
    file.write_text(METRIC.replace("FACTOR", "1"))
    invoke("check", f"{file}:metric", *few, "--threshold", "90", "--save-baseline", kept)
    assert len(json.loads(kept.read_text())["items"]) == 16

    same = invoke("check", f"{file}:metric", *few, "--threshold", "0.0001", "--baseline", kept)
    assert same.exit_code == 0, same.output  # thresholds fail nothing beside a baseline
    assert "nothing is shown to be worse than the baseline" in same.stderr
    assert "caught is the smallest fall" in same.stderr

    file.write_text(METRIC.replace("FACTOR", "0.8"))
    refused = invoke("check", f"{file}:metric", *few, "--baseline", kept, "-o", out, "--save-baseline", tmp_path / "b")
    assert refused.exit_code == 2
    assert "its fingerprint is" in refused.stderr
    assert refused.stderr.count("error:") == 1
    assert not out.exists()
    assert not (tmp_path / "b").exists()

    xml = tmp_path / "gate.xml"
    worse = invoke("check", f"{file}:metric", *few, "--baseline", kept, "--common", "-o", out, "--junit", xml)
    assert worse.exit_code == 1
    gate = json.loads(out.read_text())["gate"]
    assert not gate["passed"]
    failed = [each["family"] for each in gate["families"] if each["failed"]]
    assert "clean score" in failed
    assert "worse: clean score: the score itself fell by" in worse.stderr
    assert "worst item" in worse.stderr
    suite = ElementTree.parse(xml).getroot()
    said = {each.attrib["name"]: each.find("failure") for each in suite.iter("testcase")}
    assert {name for name, failure in said.items() if failure is not None} == set(failed)
    assert {"shape", "blur"} <= set(said)
    assert suite.attrib["failures"] == str(len(failed))
    assert "the score itself fell by" in said["clean score"].attrib["message"]  # type: ignore[union-attr]

    newer = tmp_path / "newer.json"
    invoke("check", f"{file}:metric", *few, "--save-baseline", newer)
    told = json.loads(invoke("compare", kept, newer, "--format", "json").stdout)
    rows = {row["label"]: row for row in told["rows"]}
    before, after = (
        {tuple(item): size for item, size in zip(each["items"], each["families"]["blur"]["size"], strict=True)}
        for each in (json.loads(path.read_text()) for path in (kept, newer))
    )
    assert rows["blur"]["size_difference"] == pytest.approx(np.median([before[item] - after[item] for item in before]))
    assert told["shared"] == 16

    out.unlink()
    xml.unlink()
    for option in (("--common",), ("--junit", xml)):
        alone = invoke("check", f"{file}:metric", *option)
        assert (alone.exit_code, f"{option[0]} is of --baseline" in alone.stderr) == (2, True)
    text = kept.read_text()
    for content, said in (
        (text[:-60], "not valid JSON"),
        (text.replace('"format": 1', '"format": 2'), "reads up to 1"),
    ):
        kept.write_text(content)
        cut = invoke("check", f"{file}:metric", *few, "--baseline", kept, "-o", out, "--junit", xml)
        assert (cut.exit_code, cut.stderr.count("error:")) == (2, 1)
        assert "kept.json" in cut.stderr
        assert said in cut.stderr
        assert not out.exists()
        assert not xml.exists()
