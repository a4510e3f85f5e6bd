//: unknown header
#include HEADER //!
