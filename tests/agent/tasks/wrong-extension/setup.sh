mkdir tree
echo alpha >tree/alpha
echo beta >tree/beta
tar cf data.tar.gz tree
rm -r tree
