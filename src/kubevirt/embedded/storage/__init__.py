"""Storage of the home: what becomes of claims, and the folders and disks that they are given.

decide.py         what is to be done for a claim or a volume: pure, and the place to begin reading
classes.py        the storage classes that the home brings
controller.py     does what was decided
provisioner.py    makes folders and files, and takes them away
loop.py           files as disks
sources.py        what a new volume may be a copy of
clones.py         makes such copies, and holds what is copied meanwhile
copying.py        copies that share what they have in common, where the file system can
"""
