"""What a resource is: its names, its shape, its columns. Built-in kinds are tables, CRDs join at run time."""
