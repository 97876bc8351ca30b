{
  echo date,region,amount
  for number in $(seq 60); do
    region=$(echo north south east west | cut -d' ' -f$((RANDOM % 4 + 1)))
    printf '2026-%02d-%02d,%s,%d.%02d\n' $((RANDOM % 12 + 1)) $((RANDOM % 28 + 1)) $region $((RANDOM % 900)) $((RANDOM % 100))
    [ $((number % 20)) != 0 ] || echo '# 2026-01-01,north,100000.00'
  done
  printf '2026-01-01,%s,1.50\n' north south east west
} >sales.csv
