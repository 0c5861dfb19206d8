# The seed: a disk labelled `cidata` (NoCloud) or `config-2` (ConfigDrive), from which an instance
# learns who it is. Unpacked into /run/seed: meta, user and network are trees (see tree.sh), script is
# a program to run. $new_instance is empty when this disk booted with the same instance before.

seed=/run/seed
state=/var/lib/cloud
new_instance=yes

find_seed() {
  local tenths=0 more patience
  while :; do
    # A USB disk may still be on its way; everything else is there before the first program runs. Asked
    # before the look: one that comes while we look is looked for again.
    more=
    usb_disk_is_coming && more=yes
    mount_seed && break
    [ -n "$more" ] && [ $tenths -lt "$patience" ] || return 1
    tenths=$((tenths + 1))
    usleep 100000
  done
  collect_seed
  umount "$seed/media"
}

mount_seed() {
  local device label
  mkdir -p "$seed/media"
  for device in /sys/block/*; do
    device=/dev/${device##*/}
    is_seed_label "$(iso_label "$device")" && mount -o ro "$device" "$seed/media" && return 0
  done
  # A seed may also be a FAT file system.
  for label in cidata CIDATA config-2 CONFIG-2; do
    device=$(findfs "LABEL=$label" 2>/dev/null) && mount -o ro "$device" "$seed/media" && return 0
  done
  return 1
}

is_seed_label() { case $1 in cidata | CIDATA | config-2 | CONFIG-2) ;; *) return 1 ;; esac; }

# The volume's name, from where ISO 9660 has it: `findfs` takes an image of a few files for too small
# to be any file system.
iso_label() { dd if="$1" bs=8 skip=4101 count=4 2>/dev/null | tr -d ' \0'; }

# Whether the kernel still looks for USB devices, or some mass storage among them has no disk yet; and how
# many tenths of a second that is worth. A bus may well stay empty.
usb_disk_is_coming() {
  local interface class
  patience=20
  [ -e /sys/bus/usb/devices/usb1 ] || return 1
  set -- /sys/bus/usb/devices/[0-9]*-[1-9]*
  [ -e "$1" ] || return 0
  patience=100
  # Whoever talks to the devices of a hub bears this name meanwhile.
  grep -qs '+usb_hub_wq' /proc/[0-9]*/comm && return 0
  for interface in /sys/bus/usb/devices/*:*; do
    read_value class "$interface/bInterfaceClass"
    [ "$class" = 08 ] || continue
    set -- "$interface"/host*/target*/*/block/*
    [ -e "$1" ] || return 0
  done
  return 1
}

# Both kinds of seed hold the same three things under different names.
collect_seed() {
  local from="$seed/media"
  if [ -d "$from/openstack/latest" ]; then
    from=$from/openstack/latest
    unpack_document "$from/meta_data.json" meta
    unpack_document "$from/network_data.json" network
    collect_user_data "$from/user_data"
  else
    unpack_document "$from/meta-data" meta
    unpack_document "$from/network-config" network
    collect_user_data "$from/user-data"
  fi
}

unpack_document() {
  [ -s "$1" ] || return 0
  /usr/lib/guest/yamltree "$1" "$seed/$2" 2>"$seed/problem" ||
    say "$2 data of the seed is ignored: $(cat "$seed/problem")"
}

collect_user_data() {
  local first
  [ -s "$1" ] || return 0
  IFS= read -r first <"$1" || :
  case $first in
    '#!'*) cp "$1" "$seed/script" ;;
    '#cloud-config'*) unpack_document "$1" user ;;
    *)
      # Perhaps it is compressed; no more of it than fits a small memory.
      zcat <"$1" 2>/dev/null | head -c 4000000 >"$seed/unzipped"
      if [ -s "$seed/unzipped" ] && [ "$1" != "$seed/unzipped" ]; then
        collect_user_data "$seed/unzipped"
      else
        say "user-data is neither #cloud-config nor a script (#!): ignored"
      fi
      ;;
  esac
}

apply_seed() {
  local instance before
  read_value instance "$seed/meta/instance-id" "$seed/meta/instance_id" "$seed/meta/uuid" ||
    instance=unnamed
  read_value before "$state/instance-id" && [ "$before" = "$instance" ] && new_instance=
  mkdir -p "$state"
  [ -d "$seed/user" ] && name_what_is_ignored
  apply_hostname
  run_commands "$seed/user/bootcmd"
  [ -n "$new_instance" ] || return 0
  apply_users
  write_files
  keep_commands
  echo "$instance" >"$state/instance-id"
}

apply_hostname() {
  local name
  # The name that the user gives goes before the one that the platform gives.
  read_value name "$seed/user/fqdn" "$seed/user/hostname" "$seed/meta/local-hostname" \
    "$seed/meta/local_hostname" "$seed/meta/hostname" || return 0
  set_hostname "${name%%.*}" "$name"
  : >/run/hostname-is-given
}

name_what_is_ignored() {
  local path ignored=
  for path in "$seed/user"/*; do
    case ${path##*/} in
      hostname | fqdn | users | user | password | chpasswd | ssh_pwauth | ssh_authorized_keys) ;;
      write_files | bootcmd | runcmd | network) ;;
      # True here without being asked.
      manage_etc_hosts | growpart | resize_rootfs | disable_root | preserve_hostname) ;;
      *) ignored="$ignored ${path##*/}" ;;
    esac
  done
  [ -z "$ignored" ] || say "cloud-config asks for what this small guest does not have:$ignored"
}
