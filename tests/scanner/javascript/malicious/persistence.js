//: start file
require('fs').appendFileSync(require('os').homedir() + '/.bashrc', 'x'); //!
