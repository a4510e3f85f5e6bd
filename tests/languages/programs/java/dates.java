import java.time.DayOfWeek;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.Period;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAdjusters;
import java.util.Locale;

public class Dates {
    static LocalDate easter(int year) {
        int a = year % 19;
        int b = year / 100;
        int c = year % 100;
        int d = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30;
        int e = (32 + 2 * (b % 4) + 2 * (c / 4) - d - c % 4) % 7;
        int f = d + e - 7 * ((a + 11 * d + 22 * e) / 451) + 114;
        return LocalDate.of(year, f / 31, f % 31 + 1);
    }

    public static void main(String[] args) {
        LocalDate day = LocalDate.of(2024, 2, 29);
        System.out.println(day.plusYears(1) + " " + day.plusMonths(12).getDayOfWeek());
        System.out.println(Period.between(day, LocalDate.of(2025, 12, 25)));
        System.out.println(ChronoUnit.DAYS.between(day, LocalDate.of(2025, 3, 1)));
        System.out.println(day.with(TemporalAdjusters.lastInMonth(DayOfWeek.FRIDAY)));
        LocalDateTime moment = LocalDateTime.of(2023, 7, 4, 9, 5);
        System.out.println(moment.format(DateTimeFormatter.ofPattern("EEEE d MMM uuuu, HH:mm", Locale.ENGLISH)));
        System.out.println(moment.toEpochSecond(ZoneOffset.UTC) + " " + Duration.ofMinutes(135));
        for (int year : new int[] {2023, 2024, 2025}) {
            System.out.print(easter(year) + " ");
        }
        System.out.println();
        StringBuilder calendar = new StringBuilder();
        YearMonth month = YearMonth.of(2024, 9);
        calendar.append("   ".repeat(month.atDay(1).getDayOfWeek().getValue() - 1));
        for (int i = 1; i <= month.lengthOfMonth(); i++) {
            calendar.append(String.format("%3d", i)).append(month.atDay(i).getDayOfWeek() == DayOfWeek.SUNDAY ? "\n" : "");
        }
        System.out.println(calendar);
        try {
            LocalDate.parse("2023-02-30");
        } catch (DateTimeParseException refused) {
            System.out.println("no such day: " + refused.getParsedString());
        }
    }
}
