//: own exec
class Engine { String exec(String s) { return s; } }
class T { void f() { new Engine().exec("id"); Engine e = new Engine(); e.exec("SELECT 1"); } }
//: own Runtime class
class Runtime2 { static Runtime2 getRuntime() { return new Runtime2(); } int exec(String s) { return s.length(); } }
class T { void f() { Runtime2.getRuntime().exec("id"); } }
//: memory of the runtime
Runtime rt = Runtime.getRuntime();
System.out.println(rt.availableProcessors() + rt.totalMemory() - rt.freeMemory());
//: class by constant name
Class<?> c = Class.forName("java.util." + "ArrayList");
Object o = c.getDeclaredConstructor().newInstance();
//: method by constant name
Object r = String.class.getMethod("len" + "gth").invoke("abc");
//: name of a class
System.out.println("a".getClass().getName() + int[].class.getSimpleName());
//: method references
java.util.List.of("a", "b").stream().map(String::toUpperCase).forEach(System.out::println);
//: own socket
class Socket { final String host; Socket(String h) { host = h; } void connect() { } }
class T { void f() { Socket s = new Socket("h"); s.connect(); } }
//: own eval
class Calculator { int eval(String s) { return s.length(); } }
class T { int f() { return new Calculator().eval("1+1"); } }
//: own load
class Store { void load(String s) { } void loadLibrary() { } Object readObject() { return null; } }
class T { void f() { new Store().load("a"); new Store().loadLibrary(); new Store().readObject(); } }
//: own lookup
import java.util.*;
class Dictionary2 { Map<String, String> m = new HashMap<>(); String lookup(String k) { return m.get(k); } String invoke(String k) { return k; } }
class T { void f() { new Dictionary2().lookup("a"); new Dictionary2().invoke("exec"); } }
//: exit and properties
System.out.println(System.getProperty("java.version") + System.currentTimeMillis());
System.exit(0);
//: url without opening
java.net.URI u = java.net.URI.create("https://example.org/a?b=c");
System.out.println(u.getHost() + u.getPath());
//: escapes in text
String s = "\u00e9t\u00e9 \\u0052";
System.out.println(s);
//: path words
String p = "etc" + "/" + "config.json";
System.out.println(new java.io.File(p).exists());
