# cloud-config's bootcmd and runcmd, and user-data that is a script. An item that is a text is a line
# of shell; an item that is a list is a command and its words, which no shell takes apart again. All
# items make one script, as in cloud-init: a `cd` lasts, and one that fails does not stop the rest.

# run_commands LIST: at once.
run_commands() {
  [ -d "$1" ] || return 0
  compose "$1" >"$seed/commands"
  run_script /bin/sh "$seed/commands"
}

# What `final` is to run: prepared here, once for an instance.
keep_commands() {
  [ ! -d "$seed/user/runcmd" ] || compose "$seed/user/runcmd" >"$seed/runcmd"
  [ ! -f "$seed/script" ] || install_script
}

install_script() {
  cp "$seed/script" "$state/user-script"
  chmod 700 "$state/user-script"
  : >"$seed/run-script"
}

compose() {
  local item word
  for item in "$1"/*; do
    if [ -d "$item" ]; then
      for word in "$item"/*; do
        printf "'"
        sed "s/'/'\\\\''/g" "$word"
        printf "' "
      done
    else
      cat "$item"
    fi
    echo
  done
}

run_script() { "$@" </dev/null >/dev/console 2>&1; }
