#!/bin/sh
# scikit-posthocs 0.17.1: posthoc_wilcoxon, a paired test, takes no column that says which scores are of one item. It pairs
# the first row of a group with the first row of another: the same scores, in another order of rows, are pairs of
# strangers, and 20 items of which every one gets a higher score from b than from a give another p. Nothing is said.
# Exits 0 where that is still so.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/python" -m pip install -q --disable-pip-version-check scikit-posthocs==0.17.1
cat > "$place/pairs.py" <<'PY'
import inspect, sys
import numpy as np
import pandas as pd
from scikit_posthocs import posthoc_wilcoxon
rng = np.random.default_rng(0)
a = rng.normal(size=20)
scores = pd.DataFrame({"item": range(20), "a": a, "b": a + rng.uniform(0.01, 0.1, 20)})
rows = scores.melt("item", var_name="metric", value_name="score")
shuffled = rows.sample(frac=1, random_state=1)
p = [posthoc_wilcoxon(each, val_col="score", group_col="metric").loc["a", "b"] for each in (rows, shuffled)]
print("p of the same 20 pairs, by item and in another order:", [f"{each:.2g}" for each in p])
told = [name for name in inspect.signature(posthoc_wilcoxon).parameters if "block" in name]
sys.exit(0 if p[0] < 1e-5 and p[1] > 0.05 and not told else 1)
PY
"$place/env/bin/python" "$place/pairs.py" 2> "$place/log" || { cat "$place/log"; exit 1; }
