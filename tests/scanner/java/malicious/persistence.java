//: start file
String p = System.getProperty("user.home") + "/.bashrc"; //!
//: cron
String p = "/etc/cron.d/x"; //!
