//: object stream
import java.io.*;
class A { Object f(InputStream in) throws Exception {
  ObjectInputStream o = new ObjectInputStream(in);
  return o.readObject(); //!
} }
//: object stream in one line
Object o = new java.io.ObjectInputStream(in).readObject(); //!
//: beans
Object o = new java.beans.XMLDecoder(in).readObject(); //!
//: yaml
import org.yaml.snakeyaml.Yaml;
class A { Object f(String s) { return new Yaml().load(s); } } //!
//: xstream
import com.thoughtworks.xstream.XStream;
class A { Object f(String s) { XStream x = new XStream(); return x.fromXML(s); } } //!
