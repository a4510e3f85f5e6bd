// Bits: counting, reversing, Gray codes and a checksum.
#include <bit>
#include <cstdint>
#include <cstdio>

static std::uint32_t checksum(const char *text) {
    std::uint32_t crc = ~0u;
    for (; *text != '\0'; ++text) {
        crc ^= static_cast<unsigned char>(*text);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xEDB88320u & -(crc & 1));
    }
    return ~crc;
}

int main() {
    std::printf("%d %d %u\n", std::popcount(0xF0F0u), std::countl_zero(1u), std::bit_ceil(100u));
    std::uint8_t reversed = 0;
    for (int bit = 0; bit < 8; ++bit) reversed = static_cast<std::uint8_t>(reversed << 1 | (0b1101'0000 >> bit & 1));
    std::printf("%#x\n", reversed);
    for (unsigned number = 0; number < 8; ++number) std::printf("%u ", number ^ number >> 1);
    std::printf("\n%08x\n", checksum("123456789"));
}
