//: word counts
const words = 'the cat and the dog'.split(/\s+/);
const counts = {};
for (const w of words) counts[w] = (counts[w] || 0) + 1;
console.log(Object.entries(counts).sort((a, b) => b[1] - a[1]));
//: expressions
const re = /(\d+)-(\d+)/;
const m = re.exec('10-20');
console.log(m[1], m[2], /a/.exec('cat').index);
//: Caesar
const shift = (s, k) => s.replace(/[a-z]/g, (c) => String.fromCharCode((c.charCodeAt(0) - 97 + k) % 26 + 97));
console.log(shift('hello', 3));
//: base64 of a greeting
const encoded = btoa('hello world');
console.log(encoded, atob(encoded));
//: templates
const user = { name: 'Ann', tags: ['a', 'b'] };
console.log(`${user.name.toUpperCase()} has ${user.tags.length} tags: ${user.tags.map((t) => `#${t}`).join(' ')}`);
//: palindromes
const isPalindrome = (s) => { const t = s.toLowerCase().replace(/[^a-z]/g, ''); return t === [...t].reverse().join(''); };
console.log(isPalindrome('A man, a plan, a canal: Panama'));
//: CSV
const rows = 'a,b\n1,2\n3,4'.trim().split('\n').map((l) => l.split(','));
const [header, ...body] = rows;
console.log(body.map((r) => Object.fromEntries(r.map((v, i) => [header[i], +v]))));
//: talk of commands
const help = ['Use exec() of child_process to run programs.', 'eval is evil', 'rm -rf is dangerous'];
for (const line of help) console.log(line);
//: hexadecimal
console.log(Buffer.from('hello').toString('hex'), parseInt('ff', 16), (255).toString(16));
//: tagged template of our own
function upper(strings, ...values) { return strings.reduce((a, s, i) => a + s + String(values[i] ?? '').toUpperCase(), ''); }
console.log(upper`hello ${'world'}!`);
//: address by parts
const url = new URL('https://example.org/a?b=1');
console.log(url.hostname, url.searchParams.get('b'), encodeURIComponent('a b'), decodeURIComponent('a%20b'));
//: dates
const d = new Date(Date.UTC(2024, 0, 31));
d.setUTCMonth(d.getUTCMonth() + 1);
console.log(d.toISOString().slice(0, 10), new Intl.NumberFormat('en').format(1234.5));
