//: pool
const pool = 'stratum+tcp://pool.example.org:3333'; //!
