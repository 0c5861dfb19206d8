"""Container images that hold a guest's disk or kernel: found, fetched, unpacked once.

    images = ImageCache(folder, clock)
    image = await images.unpacked(OciArchive("cirros.tar"), "kubevirt/cirros-container-disk-demo")
    disk = image.disk()                       # the one file in /disk
    kernel = image.file("/boot/vmlinuz")

An image comes from a folder or an archive (`layout.py`, `docker_archive.py`) or from a registry
(`registry.py`). Each of these is a `Source`: it finds a manifest by name and hands out blobs. All of
it is hostile: digests are checked before anything is used, sizes and names before anything is
written (`unpacking.py`), and what is written holds plain files and folders only, never a link.
"""
