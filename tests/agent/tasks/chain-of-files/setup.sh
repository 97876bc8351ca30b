one=room$RANDOM two=shelf$RANDOM word=word$RANDOM
mkdir -p $one $one/$two
echo "Look into $one/paper.txt" >start.txt
echo "Not here. Look into $one/$two/box.txt" >$one/paper.txt
echo "The word is $word" >$one/$two/box.txt
