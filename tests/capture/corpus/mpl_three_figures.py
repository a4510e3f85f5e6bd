# expect: png@show, png@show, png@show
import matplotlib.pyplot as plt
for n in (3, 1, 2):
    plt.figure(n, figsize=(n, 2))
    plt.plot([n, 1])
plt.show()
