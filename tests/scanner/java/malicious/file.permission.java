//: executable
new java.io.File("a.sh").setExecutable(true); //!
//: posix
java.nio.file.Files.setPosixFilePermissions(p, null); //!
