"""What a launcher costs: how long it takes to start, how much it holds, how soon it is back.

The driver (`run.py`) is a user of `virt-launcher --standalone` and looks at everything from outside: the
program under measurement has no hooks for it. What is measured, and how, is in docs/benchmarks.md.
"""
