for name in a b c; do head -c $((RANDOM % 5000)) /dev/zero >$name.bin; done
