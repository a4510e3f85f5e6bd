//: socket
import java.net.*;
class A { void f() throws Exception { Socket s = new Socket("10.0.0.1", 4444); } } //!
//: server
java.net.ServerSocket s = new java.net.ServerSocket(80); //!
//: datagrams
var d = new java.net.DatagramSocket(); //!
//: channel
java.nio.channels.SocketChannel c = java.nio.channels.SocketChannel.open(); //!
//: factory
javax.net.ssl.SSLSocketFactory.getDefault().createSocket("h", 443); //!
//: by reflection
Class.forName("java.net.Socket").getConstructor(String.class, int.class).newInstance("h", 1); //!
