// Digests, encodings and compression, there and back.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

func main() {
	fmt.Printf("%x\n", sha256.Sum256([]byte("abc")))
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write([]byte("message"))
	fmt.Println(hex.EncodeToString(mac.Sum(nil))[:16])
	fmt.Printf("%08x\n", crc32.ChecksumIEEE([]byte("123456789")))
	fmt.Println(base64.URLEncoding.EncodeToString([]byte{0xfb, 0xff, 0, 1}))
	words := make([]byte, 8)
	binary.BigEndian.PutUint32(words, 0xCAFE)
	binary.LittleEndian.PutUint32(words[4:], 0xCAFE)
	fmt.Println(words)

	text := strings.Repeat("again and ", 200)
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	io.WriteString(writer, text)
	writer.Close()
	smaller := packed.Len() < len(text)/10
	reader, err := gzip.NewReader(&packed)
	if err != nil {
		panic(err)
	}
	back, _ := io.ReadAll(reader)
	fmt.Println(smaller, string(back) == text)
}
