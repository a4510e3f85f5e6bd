// expects: image/png image/png
// needs: jfreechart
import org.jfree.chart.*;
import org.jfree.data.general.DefaultPieDataset;
import org.jfree.data.statistics.HistogramDataset;
import org.jfree.chart.plot.PlotOrientation;

var shares = new DefaultPieDataset();
shares.setValue("red", 40);
shares.setValue("green", 35);
shares.setValue("blue", 25);
Display.show(ChartFactory.createPieChart("Shares", shares, true, false, false), 500, 400);

var random = new Random(7);
var data = new HistogramDataset();
data.addSeries("heights", random.doubles(500).map(x -> 150 + 40 * x).toArray(), 12);
var histogram = ChartFactory.createHistogram("Heights", "cm", "people", data, PlotOrientation.VERTICAL, false, false, false);
histogram
