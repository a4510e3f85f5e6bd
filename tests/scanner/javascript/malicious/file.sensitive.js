//: shadow
require('fs').readFileSync('/etc/shadow'); //!
//: folded
const p = '/etc/' + 'shadow'; //!
//: key
const home = require('os').homedir();
const key = `${home}/.ssh/id_rsa`; //!
//: encoded
const p = atob('L2V0Yy9zaGFkb3c='); //!
//: inside of eval
eval("require('fs').readFileSync('/proc/self/environ')"); //!
