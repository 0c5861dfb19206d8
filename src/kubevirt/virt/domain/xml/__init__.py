"""XML as frozen typed values: what a field becomes, writing and reading. Knows nothing of domains."""
