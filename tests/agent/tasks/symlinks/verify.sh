[ "$(readlink links/kept.txt)" = ../store/kept.txt ] && [ "$(readlink links/one.txt)" = ../attic/one.txt ] || exit 1
[ "$(readlink links/deep/two.txt)" = ../../attic/two.txt ] && [ "$(readlink links/deep/three.txt)" = ../../attic/three.txt ] || exit 1
[ "$(cat links/one.txt links/deep/*.txt)" = "$(printf 'one\nthree\ntwo')" ]
