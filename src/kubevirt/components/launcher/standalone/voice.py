"""What is said to the person who started a run: one line at a time, on standard error."""

import sys


def say(text: str) -> None:
    """One line, whatever is in it: names come from manifests, reasons from guests."""
    line = "".join(each if each.isprintable() else "?" for each in text)
    # A terminal in raw mode needs the carriage return; any other does not mind.
    sys.stderr.write(
        f"virt-launcher: {line}\r\n" if sys.stderr.isatty() else f"virt-launcher: {line}\n"
    )
    sys.stderr.flush()
