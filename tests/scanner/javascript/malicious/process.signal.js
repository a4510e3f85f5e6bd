//: kill
process.kill(1, 'SIGKILL'); //!
//: folded
process['ki' + 'll'](1); //!
