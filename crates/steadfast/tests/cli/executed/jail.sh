set -eu
jail=$1 root=$2 command=$3
mount -t tmpfs -o size=256m tmpfs "$jail"
cd "$jail"
mkdir -p proc dev tmp run var/tmp home old "./$root"
for name in usr etc bin sbin lib lib32 lib64; do
    if [ -L "/$name" ]; then
        cp -P "/$name" "$name"
    elif [ -d "/$name" ]; then
        mkdir "$name"
        mount --rbind "/$name" "$name"
    fi
done
while read -r _ _ _ _ place _; do
    case "$place" in "$jail"/*) mount -o remount,bind,ro "$place" ;; esac
done < /proc/self/mountinfo
for name in null zero full random urandom; do
    : > "dev/$name"
    mount --bind "/dev/$name" "dev/$name"
done
mount --bind "$root" "./$root"
mount -t proc -o ro proc proc
pivot_root . old
umount -l /old
cd "$root"
exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs timeout -s KILL 8 bash -c "$command" < /dev/null
