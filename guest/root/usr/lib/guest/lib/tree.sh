# Reading what yamltree wrote: a folder is a mapping or a list, a file a value.

# read_value NAME PATH...: the first line of the first of these values that exists becomes $NAME.
# Fails, and leaves $NAME empty, when there is none.
# (Its own variables have names that no caller asks for: a local one would hide the caller's.)
read_value() {
  local _variable=$1 _candidate
  shift
  for _candidate; do
    if [ -f "$_candidate" ]; then
      # `read` fails at the end of a file without a newline, and has read it all the same.
      IFS= read -r "${_variable?}" <"$_candidate" || :
      return 0
    fi
  done
  eval "$_variable="
  return 1
}

# Whether a value is there and says yes, in any of YAML's spellings.
is_true() {
  local answer
  read_value answer "$1" || return 1
  case $answer in [Tt]rue | TRUE | [Yy]es | YES | [Oo]n | ON | 1) return 0 ;; esac
  return 1
}

is_false() { [ -f "$1" ] && ! is_true "$1"; }

# each PATH FUNCTION [WORD...]: calls FUNCTION WORD... ITEM for the value at PATH, or for each item if
# it is a list: `key: a` and `key: [a, b]` mean the same in most of cloud-config.
each() {
  local path=$1 item
  shift
  if [ -f "$path" ]; then "$@" "$path"; fi
  [ -d "$path" ] || return 0
  for item in "$path"/*; do
    [ ! -e "$item" ] || "$@" "$item"
  done
}
