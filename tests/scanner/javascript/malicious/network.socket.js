//: net
const net = require('net');
net.connect(4444, '10.0.0.1'); //!
//: new socket
new (require('node:net').Socket)(); //!
//: server
import { createServer } from 'node:net';
createServer(() => {}).listen(80); //!
//: datagrams
const d = require('dgram').createSocket('udp4'); //!
//: tls
require('tls').connect(443, 'example.org'); //!
//: http server
require('http').createServer((q, r) => r.end()).listen(8080); //!
//: WebSocket
const w = new WebSocket('wss://example.org'); //!
