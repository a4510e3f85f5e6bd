# expect:
import matplotlib.pyplot as plt
plt.figure()
None
