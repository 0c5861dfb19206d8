"""Images of containers: the built-in one, those that lie here, and those that a registry has.

    images = ImageStore(ImageSettings(folder=home.images), clock)
    image = await images.get("docker.io/library/busybox:1.36", "IfNotPresent", credentials)

    <folder>/launcher/      what virt-launcher's image has beside the built-in one
    <folder>/layout/        an OCI layout that somebody put here
    <folder>/archives/      OCI and Docker archives that somebody put here
    <folder>/roots/         images that are unpacked, by digest
    <folder>/names/         which digest a name of a registry had when it was pulled
    <folder>/downloads/     layers on their way

What lies here needs no registry, whatever the pull policy says.
"""
