mkdir -p tools deep/er
cat >tools/greet <<'END'
#!/bin/sh
echo "$GREETING from $(basename "$PWD")" >greeting.txt
END
chmod +x tools/greet
