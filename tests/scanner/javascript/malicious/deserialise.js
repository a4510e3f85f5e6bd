//: v8
require('v8').deserialize(buffer); //!
//: node-serialize
const s = require('node-serialize');
s.unserialize(text); //!
