mkdir -p links/deep attic store
echo kept >store/kept.txt
for name in one two three; do echo $name >attic/$name.txt; done
ln -s ../store/kept.txt links/kept.txt
ln -s ../store/one.txt links/one.txt
ln -s ../../store/two.txt links/deep/two.txt
ln -s "$PWD/store/three.txt" links/deep/three.txt
