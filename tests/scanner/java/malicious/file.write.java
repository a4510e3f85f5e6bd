//: writer
new java.io.FileWriter("/usr/bin/x"); //!
//: files
import java.nio.file.*;
class A { void f() throws Exception { Files.writeString(Path.of("/opt/x"), "a"); } } //!
//: constant
class A {
  static final String P = "/usr/lib/" + "x.so";
  void f() throws Exception { new java.io.FileOutputStream(P); } //!
}
