# expects: image/png
# exit: 3
plot(1:3)
quit(status = 3)
