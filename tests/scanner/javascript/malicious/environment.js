//: process.env
console.log(process.env.SECRET); //!
//: destructured
const { env } = process; //!
