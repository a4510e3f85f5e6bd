//: pool
String p = "stratum+tcp://pool.example.org:3333"; //!
