"""Message classes that `make generate` writes from ../protos; not to be edited."""
