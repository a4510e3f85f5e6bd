//: word counts
import java.util.*;
import java.util.stream.*;
class W { Map<String, Long> count(String s) { return Arrays.stream(s.split("\\s+")).collect(Collectors.groupingBy(w -> w, TreeMap::new, Collectors.counting())); } }
//: palindromes
class P { static boolean is(String s) { String t = s.toLowerCase().replaceAll("[^a-z]", ""); return new StringBuilder(t).reverse().toString().equals(t); } }
//: Caesar
StringBuilder sb = new StringBuilder();
for (char c : "hello".toCharArray()) sb.append((char) ('a' + (c - 'a' + 3) % 26));
System.out.println(sb);
//: format
System.out.println(String.format("%-10s|%5.2f", "name", 3.14159) + "x".repeat(3) + String.join("-", "a", "b"));
//: text block
String json = """
    {"exec": "Runtime.getRuntime()", "eval": 1}
    """;
System.out.println(json.strip().lines().count());
//: base64
import java.util.Base64;
class B { String f(String s) { return Base64.getEncoder().encodeToString(s.getBytes()) + new String(Base64.getDecoder().decode("aGVsbG8=")); } }
//: expressions
import java.util.regex.*;
class R { void f() { Matcher m = Pattern.compile("(\\d+)-(\\d+)").matcher("10-20"); if (m.find()) System.out.println(m.group(1)); } }
//: talk of commands
String help = "Call Runtime.getRuntime().exec to start programs; never run rm -rf.";
System.out.println(help.length());
//: parsing numbers
int total = 0;
for (String s : "1,2,3".split(",")) total += Integer.parseInt(s.trim());
System.out.println(total + " " + Integer.toHexString(255) + " " + Double.valueOf("1.5"));
//: dates
java.time.LocalDate d = java.time.LocalDate.of(2024, 1, 31).plusMonths(1);
System.out.println(d.getDayOfWeek() + " " + d);
//: switch
String f(Object o) { return switch (o) { case Integer i when i > 3 -> "big"; case String s -> s.toUpperCase(); default -> "other"; }; }
//: letters
char c = 'a';
System.out.println((int) c + Character.toString(c) + Character.isLetter(c) + (char) (c + 1));
