# expects: image/png image/png image/png image/png
z <- outer(1:20, 1:20, function(a, b) sin(a / 3) * cos(b / 4))
persp(z, theta = 30)
contour(z)
image(z)
filled.contour(z)
