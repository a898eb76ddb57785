# Reads durations such as 1h30m, in seconds.
parse() {
    rest=$1 total=0
    while [ -n "$rest" ]; do
        number=${rest%%[!0-9]*}
        unit=${rest#"$number"}
        unit=${unit%"${unit#?}"}
        case $number$unit in
            [0-9]*h) total=$((total + number * 3600)) ;;
            [0-9]*m) total=$((total + number * 60)) ;;
            [0-9]*s) total=$((total + number)) ;;
            *) echo "not a duration: $1" >&2; return 1 ;;
        esac
        rest=${rest#"$number$unit"}
    done
    echo "$total"
}
