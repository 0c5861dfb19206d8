"""The machine: each outside thing that the product touches, one file or folder each."""
