[ -f lines.txt ] && [ -f parts.tar.gz ] || exit 1
mkdir -p ../check && tar xzf delivery.tar.gz -C ../check && cd ../check
for letter in a b c; do tar xzf $letter.tar.gz; done
[ "$(cat ../workspace/lines.txt)" = "$(cat */part.txt | wc -l)" ] || exit 1
[ "$(tar tzf ../workspace/parts.tar.gz | sed 's|^\./||' | sort | tr '\n' ' ')" = "a.txt b.txt c.txt " ] || exit 1
tar xzf ../workspace/parts.tar.gz && cmp a.txt a/part.txt && cmp c.txt c/part.txt
