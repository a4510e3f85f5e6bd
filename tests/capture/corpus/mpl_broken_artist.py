# expect: png@cell_end
# stderr: could not be drawn: RuntimeError: no ink
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
class Broken(Line2D):
    def draw(self, renderer):
        raise RuntimeError('no\nink')
plt.figure().add_subplot().add_artist(Broken([0], [0]))
plt.figure().add_subplot()
None
