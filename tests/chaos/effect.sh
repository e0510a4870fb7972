# One execution of a step: sh effect.sh INSTANCE SEQ PLAN. It leaves a line in `effects` for all that happens to it,
# each by one write to a file opened for appending, and behaves as the word of the plan for its step says.
instance=$1 seq=$2 plan=$3
nonce="$instance $seq ${BATCHCTL_COOKIE##*/} $$"

say() { printf '%s %s\n' "$1" "$nonce" >>effects; }

beat() {
    left=$1
    while [ "$left" -gt 0 ]; do
        sleep 0.05
        say B
        left=$((left - 1))
    done
}

say S
[ -e places ] && printf '%s %s %s\n' "$instance" "$seq" "$(uname -n)" >>places
# Whatever is left of an earlier execution of the instance still holds this; any other code means that flock was killed.
exec 9>"locks/$instance"
flock -n 9
[ $? -eq 1 ] && say O
trap 'say T; exit 99' TERM

IFS=.
set -- $plan
shift $((seq / 10 - 1))
case $1 in
nap) sleep 0.02 ;;
slow) beat 8 ;;
long) beat 30 ;;
deaf)
    trap '' TERM
    beat 16
    ;;
child) sleep 5 & ;;
fail)
    if [ ! -e "locks/$instance.$seq" ]; then
        : >"locks/$instance.$seq"
        say F
        exit 3
    fi
    ;;
esac
say E
