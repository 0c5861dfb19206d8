# The network as the seed describes it. Every description is first brought into the form of version 2
# (netplan's), as a tree of files; only that form is carried out. Interfaces that nobody mentions get
# DHCP, like all of them where there is no description at all.

configure_network() {
  local network="$seed/network" ethernet
  if [ -d "$network/network" ]; then network="$network/network"; fi
  if [ ! -d "$network" ] && [ -d "$seed/user/network" ]; then network="$seed/user/network"; fi
  [ -d "$network" ] || return 0
  . "$lib/leases.sh"
  if [ -d "$network/links" ] || [ -d "$network/config" ]; then . "$lib/network-forms.sh"; fi
  [ ! -d "$network/links" ] || from_openstack "$network"
  [ ! -d "$network/config" ] || from_version_1 "$network"
  for ethernet in "$network/ethernets"/*; do
    [ ! -d "$ethernet" ] || configure_ethernet "$ethernet"
  done
}

configure_ethernet() {
  local ethernet=$1 link gateway
  link=$(find_link "$ethernet") || {
    say "network: this machine has no interface for '${ethernet##*/}'"
    return
  }
  set_link "$ethernet" "$link"
  each "$ethernet/addresses" add_address "$link"
  if read_value gateway "$ethernet/gateway4"; then ip route replace default via "$gateway" dev "$link"; fi
  if read_value gateway "$ethernet/gateway6"; then ip -6 route replace default via "$gateway" dev "$link"; fi
  each "$ethernet/routes" add_route "$link"
  set_name_servers "$link.seed" "$(list "$ethernet/nameservers/addresses")" \
    "$(list "$ethernet/nameservers/search")"
  leave_to_dhcp "$ethernet" "$link"
}

# The interface that a description means: by MAC address, by a pattern of its name, or by its key.
find_link() {
  local path wanted found pattern
  if read_value wanted "$1/match/macaddress"; then
    wanted=$(echo "$wanted" | tr A-F a-f)
    for path in /sys/class/net/*; do
      read_value found "$path/address"
      if [ "$found" = "$wanted" ]; then echo "${path##*/}"; return 0; fi
    done
    return 1
  fi
  read_value pattern "$1/match/name" || pattern=${1##*/}
  for path in /sys/class/net/*; do
    # shellcheck disable=SC2254  # a pattern is what it is
    case ${path##*/} in $pattern) echo "${path##*/}"; return 0 ;; esac
  done
  return 1
}

set_link() {
  local value
  if read_value value "$1/macaddress"; then ip link set "$2" address "$value"; fi
  if read_value value "$1/set-name" && [ "$value" != "$2" ]; then
    ip link set "$2" name "$value" && link=$value
  fi
  if read_value value "$1/mtu"; then ip link set "$link" mtu "$value"; fi
  raise_link "$link"
}

# An address stands alone, or as the key of its own settings.
add_address() {
  local address
  read_value address "$2" || return 0
  case $address in
    *:*) ip -6 address replace "$address" dev "$1" ;;
    *) ip address replace "$address" dev "$1" ;;
  esac
}

add_route() {
  local link=$1 to via metric family=
  read_value to "$2/to" || return 0
  read_value via "$2/via"
  read_value metric "$2/metric"
  case $to$via in *:*) family=-6 ;; esac
  case $to in 0.0.0.0/0 | ::/0) to=default ;; esac
  # shellcheck disable=SC2086  # what is not said is no word
  ip $family route replace "$to" ${via:+via "$via"} dev "$link" ${metric:+metric "$metric"} ||
    say "network: no route to $to"
}

# Only what was asked for: an interface with fixed addresses has no DHCP beside them.
leave_to_dhcp() {
  mkdir -p "$fixed"
  is_true "$1/dhcp4" || : >"$fixed/$2.4"
  is_true "$1/dhcp6" || : >"$fixed/$2.6"
  if [ -e "$fixed/$2.4" ] && [ -e "$fixed/$2.6" ]; then : >/run/online; fi
}

# The items of a list, or the one value, as words.
list() { each "$1" print_value; }
print_value() { local value; read_value value "$1" && echo "$value"; }
