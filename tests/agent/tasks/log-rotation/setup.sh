echo now >app.log
echo yesterday >app.log.1
echo before >app.log.2
