"""Wire contracts between our programs: messages, and how they are served and asked for over gRPC."""
