"""Objects on their way into the server: filled in by `mutating.py`, judged by `validating.py`.

Both decide nothing themselves: `virt.defaults` and `virt.validate` do. `reviews.py` is the language of the
questions, `judge.py` knows which path asks which. The paths are in `virt/admission_paths.py`.
"""
