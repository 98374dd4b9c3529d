"""Measurements that docs/benchmarks.md states; run all with ``make bench``. Ratios come from one run."""
