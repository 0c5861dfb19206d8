"""`make bench`: our informer and queue beside those of others, on one server, in one run.

Every contender is a program of its own that follows the same 10,000 VMIs; the driver (`run.py`) starts
them in turn and looks at them from outside. What is measured, and how fair it is, is in
docs/benchmarks.md.
"""
