"""What the tests of cluster-up share: the fixtures that it offers to everybody."""

from clusterup.pytest_plugin import (
    light_cluster,
    light_programs,
    pytest_collection_finish,
    start_light_cluster,
)

__all__ = ["light_cluster", "light_programs", "pytest_collection_finish", "start_light_cluster"]
