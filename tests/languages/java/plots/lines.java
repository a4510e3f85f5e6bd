// expects: image/png image/png
// needs: jfreechart
import org.jfree.chart.ChartFactory;
import org.jfree.chart.JFreeChart;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;
import sandbox.Display;

public class Lines {
    static JFreeChart chart(String title, int power) {
        XYSeries series = new XYSeries("x^" + power);
        for (int x = -20; x <= 20; x++) {
            series.add(x / 10.0, Math.pow(x / 10.0, power));
        }
        return ChartFactory.createXYLineChart(title, "x", "y", new XYSeriesCollection(series));
    }

    public static void main(String[] args) {
        Display.show(chart("Square", 2));
        Display.show(chart("Cube", 3), 400, 300);
    }
}
