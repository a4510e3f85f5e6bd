//: handed on
helper.use(require('child_process')); //!
//: exported
module.exports = require('child_process'); //!
