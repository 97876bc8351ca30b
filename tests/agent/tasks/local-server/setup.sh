mkdir site
echo "<p>$RANDOM</p>" >site/page.html
