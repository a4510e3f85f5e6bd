//: curl
#include <curl/curl.h>
int main() { CURL *c = curl_easy_init(); curl_easy_perform(c); } //!
