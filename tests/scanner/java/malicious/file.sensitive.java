//: shadow
java.nio.file.Files.readString(java.nio.file.Path.of("/etc/shadow")); //!
//: folded
String p = "/etc/" + "shadow"; //!
//: key
String p = System.getProperty("user.home") + "/.ssh/id_rsa"; //!
//: joined
String p = String.join("/", "", "etc", "shadow"); //!
//: path of parts
var p = java.nio.file.Path.of("/etc", "shadow"); //!
//: environment of a process
var r = new java.io.FileReader("/proc/self/environ"); //!
