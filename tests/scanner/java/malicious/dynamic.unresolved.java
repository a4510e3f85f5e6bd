//: unknown class
Class.forName(args[0]).getDeclaredConstructor().newInstance(); //!
//: unknown method of a watched class
Runtime.class.getMethod(args[0], String.class).invoke(null, "id"); //!
//: unknown class by loader
ClassLoader.getSystemClassLoader().loadClass(args[0]); //!
