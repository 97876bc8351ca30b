mkdir -p 'my files'
echo one >'my files/one.txt'
echo two >'my files/number two.txt'
cat >backup.sh <<'END'
#!/bin/bash
set -e
mkdir -p copies
for file in my files/*; do
  if [ -f $file ]; then
    cp $file copies/$(basename $file).bak
done
END
