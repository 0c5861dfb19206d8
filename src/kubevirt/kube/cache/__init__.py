"""What an informer is made of: a store, and the reflector that keeps it equal to the server."""
