git init -q -b main calc
cd calc
printf 'python3 -B -c "import calc; assert calc.add(2, 3) == 5"\n' >check.sh
for number in 1 2 3 4 5 6 7 8 9; do
  sign=+
  [ $number -lt 6 ] || sign=-
  printf 'VERSION = %s\n\n\ndef add(a, b):\n    return a %s b\n' $number $sign >calc.py
  git add . && git commit -q -m "Version $number"
done
