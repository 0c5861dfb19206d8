"""How things look: steps on standard error, results on standard output."""
