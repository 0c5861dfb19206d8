"""The small guest: how long it takes to its login prompt, and how large it is."""
