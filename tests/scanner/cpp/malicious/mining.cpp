//: pool
const char *p = "stratum+tcp://pool.example.org:3333"; //!
