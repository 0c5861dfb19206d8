"""Plans for volumes: which file or device must exist where before a guest starts, and its content."""
