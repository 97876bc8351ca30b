[ "$(cat book.txt 2>/dev/null)" = "$(printf 'Chapter 1\nChapter 2\nChapter 10')" ] || exit 1
[ "$(cat chapter2.txt)" = "Chapter 2" ] && make -q || exit 1
sleep 0.02
touch chapter2.txt
! make -q && make >/dev/null && [ "$(tail -1 book.txt)" = "Chapter 10" ]
