//: npm
require('child_process').execSync('npm install left-pad'); //!
//: words
require('child_process').spawn('pip', ['install', 'x']); //!
