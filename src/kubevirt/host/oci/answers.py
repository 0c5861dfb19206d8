"""What a registry answers, as far as anybody wants to read it, and what its refusals mean."""

import aiohttp

from kubevirt.host.oci.errors import ContainerImageError, RegistryError
from kubevirt.host.oci.reference import Reference


async def body(answer: aiohttp.ClientResponse, limit: int) -> bytes | None:
    """All of an answer, or None if it is longer than the limit."""
    data = bytearray()
    async for chunk in answer.content.iter_chunked(1 << 16):
        data += chunk
        if len(data) > limit:
            return None
    return bytes(data)


def check(answer: aiohttp.ClientResponse, image: Reference, what: str) -> None:
    """Raises unless the registry has given what it was asked for."""
    match answer.status:
        case 200 | 206:
            return
        case 404:
            raise ContainerImageError(
                f"image {image} cannot be pulled: the registry has no such {what}",
                reason="ImageNotFound",
            )
        case 401 | 403:
            raise ContainerImageError(
                f"image {image} cannot be pulled: the registry does not let us; check the name "
                f"and the pull secret",
                reason="ImagePullUnauthorized",
            )
        case 408 | 429:
            raise RegistryError(
                f"image {image} cannot be pulled now: the registry is busy ({answer.status})"
            )
        case status if status >= 500:
            raise RegistryError(
                f"image {image} cannot be pulled now: the registry fails ({status})"
            )
        case status:
            raise ContainerImageError(
                f"image {image} cannot be pulled: the registry answers {status} for its {what}"
            )
