//: read a file
import java.nio.file.*;
class D { long lines() throws Exception { return Files.readAllLines(Path.of("data.csv")).stream().filter(l -> !l.isBlank()).count(); } }
//: write a result
import java.nio.file.*;
class D { void f() throws Exception { Files.createDirectories(Path.of("out")); Files.writeString(Path.of("out", "r.txt"), "ok"); } }
//: reader
import java.io.*;
class D { void f() throws IOException { try (BufferedReader r = new BufferedReader(new FileReader("a.txt"))) { String l; while ((l = r.readLine()) != null) System.out.println(l.length()); } } }
//: writer
import java.io.*;
class D { void f() throws IOException { try (PrintWriter w = new PrintWriter(new FileWriter("/tmp/out.csv"))) { w.println("a,b"); } } }
//: statistics
import java.util.stream.*;
double mean = IntStream.of(2, 4, 4, 5).average().orElse(0);
System.out.println(mean);
//: grouping
import java.util.*;
import java.util.stream.*;
record Sale(String region, double amount) { }
class G { Map<String, Double> f(List<Sale> s) { return s.stream().collect(Collectors.groupingBy(Sale::region, Collectors.summingDouble(Sale::amount))); } }
//: serialise only
import java.io.*;
class S implements Serializable { byte[] f() throws IOException { var b = new ByteArrayOutputStream(); new ObjectOutputStream(b).writeObject(this); return b.toByteArray(); } }
//: picture
import java.awt.image.BufferedImage;
import java.io.File;
import javax.imageio.ImageIO;
class I { void f() throws Exception { BufferedImage i = new BufferedImage(10, 10, BufferedImage.TYPE_INT_RGB); i.getGraphics().drawLine(0, 0, 9, 9); ImageIO.write(i, "png", new File("plot.png")); } }
//: hash
import java.security.MessageDigest;
class H { byte[] f(String s) throws Exception { return MessageDigest.getInstance("SHA-256").digest(s.getBytes()); } }
//: scanner
import java.util.Scanner;
class In { void f() { Scanner s = new Scanner(System.in); while (s.hasNextInt()) System.out.println(s.nextInt() * 2); } }
//: optional
import java.util.*;
class O { String f(Map<String, String> m) { return Optional.ofNullable(m.get("a")).map(String::trim).filter(s -> !s.isEmpty()).orElse("none"); } }
//: list of files
import java.io.File;
class L { void f() { for (File f : new File(".").listFiles()) System.out.println(f.getName() + f.length()); } }
