mkdir -p src/lib
printf 'one\r\ntwo\r\n' >src/a.txt
printf '\357\273\277three\nfour' >src/lib/b.txt
printf '\357\273\277five\r\nsix\r\n' >src/lib/c.txt
printf 'seven\n' >src/d.txt
