# What was learned about the network, by source: an interface and family, or the seed. All of a DHCP
# server's options stay readable in /run/leases; the name servers of all sources together make
# /etc/resolv.conf, which is a link into /run.

# keep_lease SOURCE "ADDRESS..." "DOMAIN...": remembers the environment as the source's lease.
keep_lease() {
  mkdir -p /run/leases
  env >"/run/leases/$1"
  set_name_servers "$1" "$2" "$3"
  : >/run/online
}

drop_lease() {
  rm -f "/run/leases/$1" "/run/resolv/$1"
  join_name_servers
}

# set_name_servers SOURCE "ADDRESS..." "DOMAIN..."
set_name_servers() {
  local address domains
  mkdir -p /run/resolv
  for address in $2; do echo "nameserver $address"; done >"/run/resolv/$1"
  # shellcheck disable=SC2086,SC2116  # unquoted, to be rid of blanks
  domains=$(echo $3)
  [ -z "$domains" ] || echo "search $domains" >>"/run/resolv/$1"
  join_name_servers
}

join_name_servers() { cat /run/resolv/* >/run/resolv.conf 2>/dev/null; }
