//: absolute path
const fs = require('fs');
fs.writeFileSync('/usr/local/bin/x', ''); //!
//: promises
import { writeFile } from 'fs/promises';
await writeFile('/opt/x', ''); //!
//: second path
require('fs').copyFileSync('a', '/usr/bin/b'); //!
