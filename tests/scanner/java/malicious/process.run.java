//: by name
Runtime.getRuntime().exec("id"); //!
//: words
Runtime.getRuntime().exec(new String[]{"/bin/sh", "-c", "id"}); //!
//: process builder
new ProcessBuilder("id").start(); //!
//: process builder in steps
ProcessBuilder pb = new ProcessBuilder("sh", "-c", "id");
pb.redirectErrorStream(true);
Process p = pb.inheritIO().start(); //!
//: var
var rt = Runtime.getRuntime();
rt.exec("id"); //!
//: static import
import static java.lang.Runtime.getRuntime;
class A { void f() throws Exception { getRuntime().exec("id"); } } //!
//: static import of everything
import static java.lang.Runtime.*;
class A { void f() throws Exception { getRuntime().exec("id"); } } //!
//: full name
java.lang.Runtime.getRuntime().exec("id"); //!
//: reflection
Class<?> c = Class.forName("java.lang.Runtime");
Object rt = c.getMethod("getRuntime").invoke(null);
c.getMethod("exec", String.class).invoke(rt, "id"); //!
//: reflection in one line
Class.forName("java.lang.Runtime").getMethod("exec", String.class).invoke(Class.forName("java.lang.Runtime").getMethod("getRuntime").invoke(null), "id"); //!
//: folded class name
Class<?> c = Class.forName("java.lang." + "Run" + "time");
c.getDeclaredMethod("exec", String.class).invoke(null, "id"); //!
//: folded method name
Runtime.class.getMethod("ex".concat("ec"), String.class).invoke(Runtime.getRuntime(), "id"); //!
//: builder of text
StringBuilder sb = new StringBuilder();
sb.append("java.lang.");
sb.append("Runtime");
Class.forName(sb.toString()).getMethod("exec", String.class).invoke(null, "id"); //!
//: reversed text
String n = new StringBuilder("emitnuR.gnal.avaj").reverse().toString();
Class.forName(n).getMethod("exec", String.class).invoke(null, "id"); //!
//: characters
char[] cs = {'e', 'x', 'e', 'c'};
Runtime.class.getMethod(new String(cs), String.class).invoke(Runtime.getRuntime(), "id"); //!
//: codes of characters
String n = "" + (char) 101 + (char) 120 + (char) 101 + (char) 99;
Runtime.class.getMethod(n, String.class).invoke(Runtime.getRuntime(), "id"); //!
//: base64
import java.util.Base64;
class A { void f() throws Exception {
  String n = new String(Base64.getDecoder().decode("amF2YS5sYW5nLlJ1bnRpbWU="));
  Class.forName(n).getMethod("exec", String.class).invoke(null, "id"); //!
} }
//: bytes
String n = new String(new byte[]{101, 120, 101, 99});
Runtime.class.getMethod(n, String.class).invoke(null, "id"); //!
//: escapes in names
\u0052untime.getRuntime().e\u0078ec("id"); //!
//: escapes of dots
Runtime.getRuntime()\u002eexec("id"); //!
//: method handle
import java.lang.invoke.*;
class A { void f() throws Throwable {
  MethodHandle h = MethodHandles.lookup().findVirtual(Runtime.class, "exec", MethodType.methodType(Process.class, String.class));
  h.invoke(Runtime.getRuntime(), "id"); //!
} }
//: method reference
java.util.function.Consumer<String> f = s -> {};
Runtime rt = Runtime.getRuntime();
run(rt::exec); //!
//: lambda
Runnable r = () -> { try { Runtime.getRuntime().exec("id"); } catch (Exception e) { } }; //!
//: constructor by reflection
Class<?> c = Class.forName("java.lang.ProcessBuilder");
Object pb = c.getConstructor(String[].class).newInstance((Object) new String[]{"id"});
c.getMethod("start").invoke(pb); //!
//: field
class A {
  private final Runtime rt = Runtime.getRuntime();
  void f() throws Exception { this.rt.exec("id"); } //!
}
//: given back by a method
class A {
  static Runtime rt() { return Runtime.getRuntime(); }
  void f() throws Exception { rt().exec("id"); } //!
}
//: parameter
class A { void f(Runtime rt) throws Exception { rt.exec("id"); } } //!
//: choice
Runtime rt = args.length > 0 ? null : Runtime.getRuntime();
rt.exec("id"); //!
//: class literal and cast
Object o = Runtime.getRuntime();
((Runtime) o).exec("id"); //!
