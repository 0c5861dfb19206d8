#!/bin/sh
# First process of a node: makes the node's root file system, moves into it and stays.
# usage: node.sh NAME FOLDER PROGRAMS READY
#   FOLDER    the node's own files on the host: etc, var, tmp, tunables; root is made here
#   PROGRAMS  folders with programs, those of Kubernetes and those of this project, separated by colons and
#             seen in the node under the same paths
#   READY     the file that gets this process's id on the host when the node can be entered
#
# A node sees the host's software read-only, the host's devices, and otherwise only what is its own:
# two nodes do not meet in /var or /run, and nothing they write stays on the host.
set -eu
name=$1 folder=$2 programs=$3 ready=$4

# /proc is still the host's here, so this is the id by which the host knows this process.
read -r pid _ </proc/self/stat
# After the move below the file cannot be reached by its name any more.
exec 9>"$ready"

root=$folder/root
mkdir -p "$root"
mount -t tmpfs -o mode=755,size=16m node "$root"
cd "$root"
mkdir -p usr etc var tmp run dev proc sys home mnt media opt root srv .host

read_only() { mount --rbind "$1" "$2"; mount -o remount,bind,ro "$2"; }

read_only /usr usr
for path in /bin /sbin /lib /lib32 /lib64 /libx32; do
  if [ -L "$path" ]; then
    cp -P "$path" ".$path"
  elif [ -d "$path" ]; then
    mkdir ".$path"
    read_only "$path" ".$path"
  fi
done

for path in etc var tmp; do mount --bind "$folder/$path" "$path"; done
mount -t tmpfs -o mode=755 run run
ln -s ../run var/run 2>/dev/null || true
# Only now, because they may lie below one of these.
set -f
IFS=:
for path in $programs; do
  mkdir -p ".$path"
  read_only "$path" ".$path"
done
unset IFS
set +f

mount --rbind /dev dev
mount -t proc proc proc
# A new sysfs shows the links of the node's own network namespace; the cgroups are the host's.
mount -t sysfs sysfs sys
mount --rbind /sys/fs/cgroup sys/fs/cgroup

# kubelet sets a handful of kernel parameters that belong to the whole machine. Where it finds the
# values it wants, it leaves them alone; here it finds them in files of ours.
for tunable in "$folder"/tunables/*; do
  [ -e "$tunable" ] || continue
  mount --bind "$tunable" "proc/sys/$(basename "$tunable" | tr . /)"
done

pivot_root . .host
umount -l /.host
rmdir /.host
# Mounts made in a pod reach the node and other pods (Bidirectional), as on a real machine.
mount --make-rshared /

echo "$name" >/proc/sys/kernel/hostname
echo "$pid" >&9
exec 9>&-

# Orphans of the node become our children; ignoring SIGCHLD lets the kernel reap them.
trap '' CHLD
exec sleep infinity
