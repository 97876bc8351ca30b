[ "$(cat src/a.txt src/lib/b.txt src/lib/c.txt src/d.txt | od -An -c | tr -d ' \n')" = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n' ]
