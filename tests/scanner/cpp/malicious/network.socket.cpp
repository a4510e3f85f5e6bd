//: socket
#include <sys/socket.h>
int main() { int s = socket(AF_INET, SOCK_STREAM, 0); } //!
//: connect
#include <sys/socket.h>
int go(int s, sockaddr *a) { return connect(s, a, sizeof *a); } //!
//: names
#include <netdb.h>
int main() { gethostbyname("example.org"); } //!
//: boost
#include <boost/asio.hpp>
int main() { boost::asio::io_context io; boost::asio::ip::tcp::socket s(io); } //!
