#!/bin/sh
# First process of the control plane's machine: namespaces of its own, the file system of the host.
# usage: control-plane.sh READY   (READY: the file that gets this process's id on the host)
set -eu

# /proc is still the host's here, so this is the id by which the host knows this process.
read -r pid _ </proc/self/stat

mount -t proc proc /proc
echo control-plane >/proc/sys/kernel/hostname

echo "$pid" >"$1.new"
mv "$1.new" "$1"

# Orphans of the machine become our children; ignoring SIGCHLD lets the kernel reap them.
trap '' CHLD
exec sleep infinity
