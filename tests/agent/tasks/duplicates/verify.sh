[ "$(cat removed.txt 2>/dev/null)" = "$(printf 'photos/2024/b.jpg\nphotos/2025 summer/c.jpg\nphotos/wood.jpg')" ] || exit 1
[ "$(find photos -type f | LC_ALL=C sort)" = "$(printf 'photos/2024/a.jpg\nphotos/2024/alone.jpg\nphotos/2025 summer/d.jpg')" ]
