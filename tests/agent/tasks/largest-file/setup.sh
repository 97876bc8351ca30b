for shelf in a b/c b/d 'e f'; do
  mkdir -p "stock/$shelf"
  for number in 1 2 3; do head -c $((RANDOM % 3000 + 100)) /dev/zero >"stock/$shelf/$number.bin"; done
done
head -c 9000 /dev/zero >"stock/e f/$RANDOM.bin"
