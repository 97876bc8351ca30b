git init -q -b main recipes
cd recipes
for name in bread soup cake stew; do echo "$name: first try" >$name.txt; done
git add . && git commit -q -m "Recipes"
echo "soup: more salt" >>soup.txt && git commit -q -a -m "Salt"
git rm -q soup.txt && git commit -q -m "Tidy up"
echo "bread: longer" >>bread.txt && git commit -q -a -m "Bread"
