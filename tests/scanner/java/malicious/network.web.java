//: url
import java.net.URL;
class A { void f() throws Exception { new URL("https://example.org").openStream(); } } //!
//: client
import java.net.http.*;
class A { void f(HttpRequest r) throws Exception { HttpClient.newHttpClient().send(r, null); } } //!
//: connection
var c = new java.net.URL("https://example.org").openConnection(); //!
