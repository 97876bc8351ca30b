git init -q -b main shop
cd shop
printf 'port = 80\ntimeout = 30\nname = shop\n' >settings.ini
git add . && git commit -q -m "Settings"
git checkout -q -b faster
sed -i 's/timeout = .*/timeout = 5/' settings.ini
echo 'cache = on' >>settings.ini
git commit -q -a -m "Faster"
git checkout -q main
sed -i 's/timeout = .*/timeout = 60/' settings.ini
git commit -q -a -m "More patience"
