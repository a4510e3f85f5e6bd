//: accessible
import java.lang.reflect.*;
class A { void f(Class<?> c) throws Exception {
  Field f = c.getDeclaredField("x");
  f.setAccessible(true); //!
} }
//: lookup
var l = java.lang.invoke.MethodHandles.privateLookupIn(String.class, null); //!
