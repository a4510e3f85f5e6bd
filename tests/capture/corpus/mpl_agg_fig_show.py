# expect: png@show
import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt
fig = plt.figure()
fig.add_subplot()
fig.show()
