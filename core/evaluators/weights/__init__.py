"""Published weights: what exists, how it is fetched and checked, on which device it runs."""
