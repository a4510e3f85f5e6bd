# expect: png@show
import seaborn as sns
import matplotlib.pyplot as plt
sns.histplot([1, 2, 2, 3])
plt.show()
