//: fork
require('child_process').fork('x.js'); //!
//: cluster
import cluster from 'node:cluster';
cluster.fork(); //!
