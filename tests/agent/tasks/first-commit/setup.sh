mkdir -p site/pages site/build
echo '<h1>Home</h1>' >site/pages/index.html
echo '<h1>About</h1>' >site/pages/about.html
echo 'generated' >site/build/index.html
