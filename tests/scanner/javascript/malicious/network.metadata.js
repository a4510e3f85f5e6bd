//: address
fetch('http://169.254.169.254/latest/meta-data/iam'); //!
//: folded address
const host = ['169', '254', '169', '254'].join('.'); //!
//: name
const u = 'http://metadata.' + 'google.internal/'; //!
