//: rmSync
const fs = require('fs');
fs.rmSync('data', { recursive: true }); //!
//: promises
require('fs').promises.unlink('a.txt'); //!
//: imported
import { unlinkSync as u } from 'node:fs';
u('a.txt'); //!
