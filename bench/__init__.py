"""Measurements that the README states; run all with ``make bench``. Ratios come from one run."""
