"""Containers that outlive us.

    keeper = stack.enter_context(Keeper.open(settings.keeper))
    attempt = Attempt(folder)
    await attempt.start(container, keeper)
    ending = await attempt.ended()

A container runs in a sandbox (`sandbox.py`) below a small program in C, the keeper, which writes down what
the container says and how it ends. Nothing of that needs this process: whoever comes later finds the folder
of an attempt (`attempt.py`) and knows all about it.

Those who want something of a container that runs: commands join it (`joining.py`), its log is read and
followed (`logs.py`), and something is said to it (`attaching.py`).
"""
