# expect: png@savefig, png@savefig
import matplotlib.pyplot as plt
from matplotlib.backends.backend_pdf import PdfPages
with PdfPages('m.pdf') as pdf:
    for n in (1, 2):
        plt.plot([n, 1])
        pdf.savefig()
        plt.close()
