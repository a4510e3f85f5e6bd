//: library
System.loadLibrary("x"); //!
//: file
System.load("/tmp/x.so"); //!
//: native method
class A {
  public native int run(String s); //!
}
//: unsafe
import sun.misc.Unsafe;
class A { void f(Unsafe u) { u.putLong(1L, 2L); } } //!
//: foreign functions
var h = java.lang.foreign.Linker.nativeLinker().downcallHandle(null, null); //!
