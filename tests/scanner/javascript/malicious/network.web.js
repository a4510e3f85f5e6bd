//: fetch
await fetch('https://example.org'); //!
//: https
const https = require('https');
https.get('https://example.org', () => {}); //!
//: XMLHttpRequest
const x = new XMLHttpRequest(); //!
//: axios
import axios from 'axios';
axios.post('https://example.org', { a: 1 }); //!
