// expects: image/png
// needs: jfreechart
import org.jfree.chart.ChartFactory;
import org.jfree.data.category.DefaultCategoryDataset;

var sales = new DefaultCategoryDataset();
String[] months = {"Jan", "Feb", "Mar", "Apr"};
for (int i = 0; i < months.length; i++) {
    sales.addValue(10 + i * i, "north", months[i]);
    sales.addValue(18 - i * 3, "south", months[i]);
}
ChartFactory.createBarChart("Sales", "month", "units", sales)
