//: script engine
import javax.script.*;
class A { void f() throws Exception { new ScriptEngineManager().getEngineByName("nashorn").eval("1+1"); } } //!
//: script engine in steps
import javax.script.*;
class A { void f() throws Exception {
  ScriptEngine e = new ScriptEngineManager().getEngineByName("js");
  e.eval(System.getProperty("code")); //!
} }
//: groovy
new groovy.lang.GroovyShell().evaluate("1"); //!
//: jshell
jdk.jshell.JShell.create().eval("int x = 1;"); //!
//: compiler
javax.tools.ToolProvider.getSystemJavaCompiler().run(null, null, null, "X.java"); //!
//: class loader
import java.net.*;
class A { void f() throws Exception { URLClassLoader l = new URLClassLoader(new URL[0]); } } //!
//: own class loader
class L extends ClassLoader {
  Class<?> make(byte[] b) { return defineClass(null, b, 0, b.length); } //!
}
//: hidden class
import java.lang.invoke.*;
class A { void f(byte[] b) throws Exception { MethodHandles.lookup().defineClass(b); } } //!
//: naming service
import javax.naming.*;
class A { void f() throws Exception { new InitialContext().lookup("ldap://example.org/a"); } } //!
//: attach
com.sun.tools.attach.VirtualMachine vm = com.sun.tools.attach.VirtualMachine.attach("1"); //!
