# Prints seconds the way they are read.
show() {
    hours=$(($1 / 3600)) minutes=$(($1 / 60)) seconds=$(($1 % 60))
    text=
    [ "$hours" -eq 0 ] || text=${hours}h
    [ "$minutes" -eq 0 ] || text=$text${minutes}m
    [ "$seconds" -eq 0 ] || text=$text${seconds}s
    echo "${text:-0s}"
}
