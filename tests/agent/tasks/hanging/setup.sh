cat >count <<'END'
#!/bin/bash
number=1
while [ $number != 6 ]; do
  echo $number
  sleep 0.05
  number=$((number + 2))
done >numbers.txt
echo done
END
chmod +x count
