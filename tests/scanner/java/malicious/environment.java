//: getenv
String s = System.getenv("HOME"); //!
