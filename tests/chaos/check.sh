# Was a lost step done? sh check.sh INSTANCE SEQ: exit code 0 when the step has left its last line, 1 when it has not.
printf 'V %s %s %s %s\n' "$1" "$2" "${BATCHCTL_COOKIE##*/}" "$$" >>effects
grep -q "^E $1 $2 " effects
