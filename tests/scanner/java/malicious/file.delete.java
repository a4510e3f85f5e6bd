//: file
new java.io.File("a.txt").delete(); //!
//: files
import java.nio.file.*;
class A { void f(Path p) throws Exception { Files.deleteIfExists(p); } } //!
//: variable
import java.io.File;
class A { void f(String n) { File f = new File(n); f.delete(); } } //!
