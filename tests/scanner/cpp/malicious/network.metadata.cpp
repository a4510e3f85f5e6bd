//: address
const char *u = "http://169.254.169.254/"; //!
//: pieces
const char *u = "http://169.254." "169.254/latest"; //!
