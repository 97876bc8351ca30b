cmp site/page.html fetched.html && [ "$(cat status.txt)" = 200 ]
