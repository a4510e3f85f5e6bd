//: address
String u = "http://169.254.169.254/latest/meta-data/"; //!
//: folded address
String u = "http://169.254" + ".169.254/"; //!
