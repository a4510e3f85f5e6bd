# expect:
# error: FileNotFoundError
import matplotlib.pyplot as plt
plt.figure()
plt.savefig('/nonexistent/dir/a.png')
