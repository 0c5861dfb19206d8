"""The programs, one folder each. Siblings never import each other."""
