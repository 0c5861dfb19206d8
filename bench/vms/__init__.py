"""A machine's life in a real home, with real guests: how long, how much, how many, and where the time goes."""
