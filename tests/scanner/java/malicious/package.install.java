//: pip
Runtime.getRuntime().exec("pip install x"); //!
//: words
new ProcessBuilder("npm", "install", "x").start(); //!
