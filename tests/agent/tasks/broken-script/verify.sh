[ "$(ls copies 2>/dev/null)" = "$(printf 'number two.txt.bak\none.txt.bak')" ] || exit 1
rm -r copies
bash backup.sh && [ "$(cat copies/*.bak)" = "$(printf 'two\none')" ]
