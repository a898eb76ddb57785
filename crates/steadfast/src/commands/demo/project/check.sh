# How the tasks are checked: sh check.sh parse|show
. "./durations/$1.sh"
while read -r text seconds; do
    case $1 in
        parse) want=$seconds got=$(parse "$text") ;;
        show) want=$text got=$(show "$seconds") ;;
    esac
    [ "$got" = "$want" ] || { echo "FAILED: $1 gives $got instead of $want"; exit 1; }
done <<'CASES'
45s 45
2h 7200
1h30m 5400
1h1m1s 3661
CASES
echo "4 passed"
