"""Labels by which Services and their endpoints find each other."""

from typing import Final

SERVICE_NAME: Final = "kubernetes.io/service-name"
MANAGED_BY: Final = "endpointslice.kubernetes.io/managed-by"
HEADLESS: Final = "service.kubernetes.io/headless"
