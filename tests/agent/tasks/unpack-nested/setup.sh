mkdir -p work
cd work
for letter in a b c; do
  mkdir $letter
  seq $((RANDOM % 50 + 10)) >$letter/part.txt
  echo noise >$letter/noise.txt
  tar czf $letter.tar.gz $letter
done
tar czf ../delivery.tar.gz a.tar.gz b.tar.gz c.tar.gz
cd .. && rm -r work
