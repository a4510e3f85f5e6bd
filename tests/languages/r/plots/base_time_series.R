# expects: image/png image/png
plot(AirPassengers)
acf(AirPassengers)
