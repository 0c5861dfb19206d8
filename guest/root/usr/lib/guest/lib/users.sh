# Accounts: made from cloud-config and from the platform's ssh keys. A name is checked before it gets
# into /etc/passwd; passwords and keys are handed on as data, never as words of a command line.

read -r default_user </etc/guest/default-user

apply_users() {
  local name path
  read_value name "$seed/user/user/name" "$seed/user/user" && is_user_name "$name" && default_user=$name
  ensure_user "$default_user"
  add_to_group "$default_user" sudo

  each "$seed/user/users" apply_user
  if read_value name "$seed/user/password"; then set_password "$default_user" "$name"; fi
  apply_chpasswd "$seed/user/chpasswd"
  each "$seed/user/ssh_authorized_keys" authorize "$default_user"
  for path in "$seed/meta/public-keys" "$seed/meta/public_keys"; do
    apply_platform_keys "$path"
  done
  # dropbear is told when it starts.
  if is_false "$seed/user/ssh_pwauth"; then : >/etc/dropbear/no-passwords; fi
}

# An item of `users:` is a name, the word `default`, or a mapping.
apply_user() {
  local user=$1 name shell home
  read_value name "$user/name" "$user"
  if [ "$name" = default ]; then return; fi
  is_user_name "$name" || { say "no user can be called '$name'"; return; }
  read_value shell "$user/shell"
  # The guest has one shell; what else may be wanted is none.
  case $shell in */false | */nologin) ;; *) shell=/bin/sh ;; esac
  read_value home "$user/homedir" || home=/home/$name
  ensure_user "$name" "$shell" "$home"
  each "$user/groups" add_to_listed_groups "$name"
  if [ -e "$user/sudo" ] && ! is_false_word "$user/sudo"; then add_to_group "$name" sudo; fi
  apply_user_password "$name" "$user"
  each "$user/ssh_authorized_keys" authorize "$name"
  each "$user/ssh-authorized-keys" authorize "$name"
}

apply_user_password() {
  local name=$1 user=$2 secret
  if read_value secret "$user/plain_text_passwd"; then
    set_password "$name" "$secret"
  elif read_value secret "$user/hashed_passwd" "$user/passwd"; then
    set_hash "$name" "$secret"
  fi
  # As in cloud-init, a password that is not said to be unlocked cannot be used.
  is_false "$user/lock_passwd" || lock_password "$name"
}

apply_chpasswd() {
  local chpasswd=$1 item
  if [ -f "$chpasswd/list" ]; then set_listed_passwords <"$chpasswd/list"; fi
  if [ -d "$chpasswd/list" ]; then
    for item in "$chpasswd"/list/*; do { cat "$item"; echo; } | set_listed_passwords; done
  fi
  [ ! -d "$chpasswd/users" ] || each "$chpasswd/users" apply_chpasswd_user
}

apply_chpasswd_user() {
  local name type secret
  read_value name "$1/name" || return 0
  read_value type "$1/type"
  read_value secret "$1/password"
  case $type in
    hash) set_hash "$name" "$secret" ;;
    RANDOM) say "no random password is made for $name" ;;
    *) set_password "$name" "$secret" ;;
  esac
}

# Lines NAME:PASSWORD, where the password may be a hash already.
set_listed_passwords() {
  local name secret
  while IFS=: read -r name secret || [ -n "$name" ]; do
    case $secret in
      '') ;;
      '$'[1256]*'$'*'$'*) set_hash "$name" "$secret" ;;
      *) set_password "$name" "$secret" ;;
    esac
  done
}

# A list of keys, a mapping of names to keys, or EC2's mapping of mappings with `openssh-key`.
apply_platform_keys() {
  local item
  if [ -f "$1" ]; then authorize "$default_user" "$1"; fi
  [ -d "$1" ] || return 0
  for item in "$1"/*; do
    if [ -d "$item" ]; then item=$item/openssh-key; fi
    [ ! -f "$item" ] || authorize "$default_user" "$item"
  done
}

is_user_name() {
  case $1 in '' | [!a-z_]* | *[!a-z0-9_.-]*) return 1 ;; esac
  [ ${#1} -le 32 ]
}

is_false_word() {
  local word
  read_value word "$1" || return 1
  case $word in False | false | No | no | '') return 0 ;; esac
  return 1
}

# ensure_user NAME [SHELL [HOME]]
ensure_user() {
  local name=$1 shell=${2:-/bin/sh} home=${3:-/home/$1} id
  case $home$shell in *:*) return 1 ;; esac
  grep -q "^$name:" /etc/passwd && return 0
  id=$(awk -F: '$3 >= 1000 && $3 < 60000 && $3 > last { last = $3 } END { print (last ? last : 999) + 1 }' /etc/passwd)
  echo "$name:x:$id:$id:$name:$home:$shell" >>/etc/passwd
  # No password hashes to this; busybox's login stumbles over the usual `!`.
  echo "$name:\$6\$locked\$!:20000:0:99999:7:::" >>/etc/shadow
  grep -q "^$name:" /etc/group || echo "$name:x:$id:" >>/etc/group
  mkdir -p "$home"
  chown "$id:$id" "$home"
}

# Groups may come as one text with commas.
add_to_listed_groups() {
  local user=$1 list group
  read_value list "$2"
  for group in $(echo "$list" | tr ',' ' '); do add_to_group "$user" "$group"; done
}

add_to_group() {
  local user=$1 group=$2
  is_user_name "$group" || return 0
  # The name under which sudo's users are known elsewhere.
  case $group in wheel | admin) group=sudo ;; esac
  grep -q "^$group:" /etc/group ||
    echo "$group:x:$(awk -F: '$3 > last && $3 < 60000 { last = $3 } END { print last + 1 }' /etc/group):" >>/etc/group
  user=$user group=$group edit /etc/group 644 '
    $1 == ENVIRON["group"] && ("," $4 ",") !~ ("," ENVIRON["user"] ",") {
      $4 = $4 ($4 == "" ? "" : ",") ENVIRON["user"]
    }'
}

set_password() {
  local hash
  hash=$(printf %s "$2" | mkpasswd -m sha512 -P 0) && set_hash "$1" "$hash"
}

set_hash() {
  case $2 in *:*) return 1 ;; esac
  user=$1 hash=$2 edit /etc/shadow 600 '$1 == ENVIRON["user"] { $2 = ENVIRON["hash"] }'
}

lock_password() { user=$1 edit /etc/shadow 600 '$1 == ENVIRON["user"] && $2 !~ /^!/ { $2 = "!" $2 }'; }

# edit FILE MODE PROGRAM: rewrites a file of colon-separated fields, whole or not at all.
edit() {
  awk -F: -v OFS=: "$3 { print }" "$1" >"$1.new" && chmod "$2" "$1.new" && mv "$1.new" "$1"
}

# authorize USER FILE: the ssh keys in FILE may log in as USER.
authorize() {
  local user=$1 home id group
  IFS=: read -r _ _ id group _ home _ <<-END
	$(grep "^$user:" /etc/passwd)
	END
  [ -n "$home" ] || return 0
  mkdir -p "$home/.ssh"
  { cat "$2"; echo; } >>"$home/.ssh/authorized_keys"
  chmod 700 "$home/.ssh"
  chmod 600 "$home/.ssh/authorized_keys"
  chown -R "$id:$group" "$home/.ssh"
}
