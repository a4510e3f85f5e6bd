# expect:
# stderr: could not be drawn: RuntimeError: no ink
# stdout: after
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
class Broken(Line2D):
    def draw(self, renderer):
        raise RuntimeError('no ink')
plt.figure().add_subplot().add_artist(Broken([0], [0]))
plt.show()
print('after')
