[ ! -e big.log ] && cmp line.txt ../big.line || exit 1
[ "$(cat parts/part.* | sha256sum)" = "$(cat ../big.sum)" ] && [ "$(ls parts/part.* | wc -l)" = 6 ] || exit 1
cd parts && sha256sum -c --quiet SHA256 && [ "$(wc -l <SHA256)" = 6 ]
