"""The programs in Python that `make bench` compares, one process each; others are in `peers/`."""
