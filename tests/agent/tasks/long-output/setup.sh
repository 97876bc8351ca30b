cat >talk <<'END'
#!/bin/bash
echo run >>.runs
word=w$RANDOM$RANDOM
[ "$(wc -l <.runs)" != 1 ] || echo $word >.first
awk -v word=$word 'BEGIN { for (n = 0; n < 9000; ++n) { print n, "blah blah blah"; if (n == 4444) print "PASSWORD: " word } }'
END
chmod +x talk
