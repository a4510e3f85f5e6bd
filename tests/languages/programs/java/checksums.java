import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HexFormat;
import java.util.zip.CRC32;

public class Checksums {
    static int crc(byte[] data) {
        int crc = -1;
        for (byte b : data) {
            crc ^= b & 0xff;
            for (int i = 0; i < 8; i++) {
                crc = (crc >>> 1) ^ (0xEDB88320 & -(crc & 1));
            }
        }
        return ~crc;
    }

    static int adler(byte[] data) {
        int a = 1;
        int b = 0;
        for (byte each : data) {
            a = (a + (each & 0xff)) % 65521;
            b = (b + a) % 65521;
        }
        return b << 16 | a;
    }

    public static void main(String[] args) throws Exception {
        byte[] data = "The quick brown fox ✓".getBytes(StandardCharsets.UTF_8);
        CRC32 library = new CRC32();
        library.update(data);
        System.out.printf("%08x %b%n", crc(data), (int) library.getValue() == crc(data));
        System.out.printf("%08x%n", adler("Wikipedia".getBytes(StandardCharsets.US_ASCII)));
        byte[] hash = MessageDigest.getInstance("SHA-256").digest("abc".getBytes(StandardCharsets.US_ASCII));
        System.out.println(HexFormat.of().formatHex(hash));
        System.out.println(Base64.getEncoder().encodeToString(data));
        ByteBuffer buffer = ByteBuffer.allocate(12).putInt(0xCAFEBABE).putLong(-2L).flip();
        System.out.println(Integer.toHexString(buffer.getInt()) + " " + Long.toUnsignedString(buffer.getLong()));
        System.out.println(Integer.toBinaryString(~0b1010 & 0xff) + " " + (-17 >> 2) + " " + (-17 >>> 28) + " " + Long.bitCount(255));
    }
}
