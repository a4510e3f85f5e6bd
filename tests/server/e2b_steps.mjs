// Steps of E2B's SDK for JavaScript, which print a line of JSON each.
import { deepStrictEqual as same, ok, rejects } from 'node:assert'
import {
  CommandExitError, FileNotFoundError, FilesystemEventType, InvalidArgumentError, NotFoundError,
  Sandbox, SandboxError, TimeoutError,
} from '@e2b/code-interpreter'

let box, handle, context, watcher, pty
const events = []
const typed = []
const text = (logs) => logs.join('')
const later = (ms) => new Promise((done) => setTimeout(done, ms))
const until = async (found, ms = 20000) => {
  const limit = Date.now() + ms
  while (!(await found())) {
    if (Date.now() > limit) throw new Error('it did not happen')
    await later(100)
  }
}
const decode = (data) => new TextDecoder().decode(data)
const size = (n) => new Uint8Array(n).map((_, place) => place % 251)

const steps = {
  'create': async () => {
    box = await Sandbox.create({ timeoutMs: 120_000, metadata: { of: 'js' }, envs: { GIVEN: 'here' } })
    ok(box.sandboxId)
  },
  'create with template': async () => {
    const other = await Sandbox.create('base', { timeoutMs: 30_000 })
    same(await other.kill(), true)
  },
  'create with unknown template': () => rejects(Sandbox.create('no-such-template'), /base, code-interpreter-v1/),
  'create with too long timeout': () => rejects(Sandbox.create({ timeoutMs: 1e10 }), /invalid timeout/),
  'create with internet access': () => rejects(Sandbox.create({ allowInternetAccess: true }), /--network internet/),
  'create without internet access': async () => {
    const other = await Sandbox.create({ allowInternetAccess: false, timeoutMs: 30_000 })
    same(await other.kill(), true)
  },
  'is running': async () => same(await box.isRunning(), true),
  'get info': async () => {
    const info = await box.getInfo()
    same([info.sandboxId, info.state, info.metadata], [box.sandboxId, 'running', { of: 'js' }])
    ok(info.startedAt < new Date() && new Date() < info.endAt)
  },
  'get info of an unknown sandbox': () => rejects(Sandbox.getInfo('0'.repeat(20)), SandboxError),
  'list by metadata': async () => {
    const found = await Sandbox.list({ query: { metadata: { of: 'js' } } }).nextItems()
    same(found.map((one) => one.sandboxId), [box.sandboxId])
  },
  'list by other metadata': async () => same(await Sandbox.list({ query: { metadata: { of: 'no' } } }).nextItems(), []),
  'list by state': async () => same(await Sandbox.list({ query: { state: ['paused'] } }).nextItems(), []),
  'list in pages': async () => {
    const other = await Sandbox.create({ timeoutMs: 30_000, metadata: { of: 'js' } })
    const pages = Sandbox.list({ query: { metadata: { of: 'js' } }, limit: 1 })
    same((await pages.nextItems()).map((one) => one.sandboxId), [other.sandboxId])
    same(pages.hasNext, true)
    same((await pages.nextItems()).map((one) => one.sandboxId), [box.sandboxId])
    same(pages.hasNext, false)
    await other.kill()
  },
  'set timeout': async () => {
    await box.setTimeout(600_000)
    const left = (await box.getInfo()).endAt - Date.now()
    ok(left > 500_000 && left <= 600_500)
  },
  'set timeout of an unknown sandbox': () => rejects(Sandbox.setTimeout('0'.repeat(20), 1000), SandboxError),
  'connect': async () => {
    const other = await Sandbox.connect(box.sandboxId)
    same((await other.commands.run('echo yes')).stdout, 'yes\n')
  },
  'connect to an unknown sandbox': () => rejects(Sandbox.connect('0'.repeat(20)), SandboxError),
  'get metrics': async () => {
    const [found] = await box.getMetrics()
    ok(found.memUsed > 0 && found.memUsed <= found.memTotal)
  },
  'pause is refused in words': () => rejects(box.pause(), /memory of a sandbox cannot be saved/),
  'snapshot is refused in words': () => rejects(box.createSnapshot(), /download its files/),
  'host of a port': () => ok(box.getHost(8000).startsWith(`8000-${box.sandboxId}.`)),

  'command': async () => {
    const { stdout, stderr, exitCode } = await box.commands.run('echo out; echo err >&2')
    same([stdout, stderr, exitCode], ['out\n', 'err\n', 0])
  },
  'command that fails': () => rejects(box.commands.run('echo before; exit 3'), (error) => {
    ok(error instanceof CommandExitError)
    same([error.exitCode, error.stdout], [3, 'before\n'])
    return true
  }),
  'command in a directory': async () => same((await box.commands.run('pwd', { cwd: '/tmp' })).stdout, '/tmp\n'),
  'command in a missing directory': () => rejects(box.commands.run('pwd', { cwd: '/no/such' }), /directory/),
  'command with variables': async () => {
    same((await box.commands.run('echo "$GIVEN $MORE"', { envs: { MORE: 'more' } })).stdout, 'here more\n')
  },
  'command at home': async () => same((await box.commands.run('echo $HOME $PWD')).stdout, '/home/user /home/user\n'),
  'command with callbacks': async () => {
    const out = []
    const err = []
    await box.commands.run('echo a; echo b >&2', { onStdout: (d) => out.push(d), onStderr: (d) => err.push(d) })
    same([text(out), text(err)], ['a\n', 'b\n'])
  },
  'command with much output': async () => same((await box.commands.run('seq 200000')).stdout.length, 1288895),
  'command beyond its timeout': () => rejects(box.commands.run('sleep 600', { timeoutMs: 1000 }), TimeoutError),
  'command as another user': () => rejects(box.commands.run('id', { user: 'root' }), /one user/),
  'command as the user': async () => same((await box.commands.run('id -u', { user: 'user' })).stdout, '65532\n'),
  'command that is killed by a signal': () => rejects(box.commands.run('kill -9 $$'), (error) => {
    same([error.exitCode, error.error], [-1, 'signal: killed'])
    return true
  }),
  'command in the background': async () => {
    handle = await box.commands.run('sleep 0.2; echo done', { background: true })
    same((await handle.wait()).stdout, 'done\n')
  },
  'list of commands': async () => {
    handle = await box.commands.run('sleep 600', { background: true, envs: { A: 'b' }, cwd: '/tmp' })
    const found = (await box.commands.list()).find((one) => one.pid === handle.pid)
    same([found.cmd, found.args, found.envs, found.cwd], ['/bin/bash', ['-l', '-c', 'sleep 600'], { A: 'b' }, '/tmp'])
  },
  'kill of a command': async () => {
    same(await box.commands.kill(handle.pid), true)
    await rejects(handle.wait(), CommandExitError)
  },
  'kill of an ended command': async () => same(await box.commands.kill(handle.pid), false),
  'kill of an unknown command': async () => same(await box.commands.kill(999999), false),
  'standard input': async () => {
    handle = await box.commands.run('read line; echo got $line', { background: true, stdin: true })
    await box.commands.sendStdin(handle.pid, 'something\n')
    same((await handle.wait()).stdout, 'got something\n')
  },
  'end of standard input': async () => {
    handle = await box.commands.run('cat; echo end', { background: true, stdin: true })
    await box.commands.sendStdin(handle.pid, 'text ')
    await box.commands.closeStdin(handle.pid)
    same((await handle.wait()).stdout, 'text end\n')
  },
  'standard input is empty unless asked for': async () => same((await box.commands.run('cat; echo end')).stdout, 'end\n'),
  'second client of a command': async () => {
    handle = await box.commands.run('read x; echo later', { background: true, stdin: true })
    const other = await box.commands.connect(handle.pid)
    await box.commands.sendStdin(handle.pid, '\n')
    same((await other.wait()).stdout, 'later\n')
    await handle.wait()
  },
  'command outlives its client': async () => {
    handle = await box.commands.run('sleep 0.5; touch outlived', { background: true })
    await handle.disconnect()
    await until(() => box.files.exists('outlived'))
  },
  'connect to an unknown command': () => rejects(box.commands.connect(999999), NotFoundError),

  'terminal': async () => {
    pty = await box.pty.create({ rows: 30, cols: 100, onData: (d) => typed.push(decode(d)), timeoutMs: 60_000 })
    await box.pty.sendInput(pty.pid, new TextEncoder().encode('tty -s && echo termi""nal\n'))
    await until(() => text(typed).includes('terminal'))
  },
  'terminal changes its size': async () => {
    await box.pty.resize(pty.pid, { rows: 40, cols: 120 })
    await box.pty.sendInput(pty.pid, new TextEncoder().encode('stty size\n'))
    await until(() => text(typed).includes('40 120'))
  },
  'kill of a terminal': async () => {
    same(await box.pty.kill(pty.pid), true)
    await rejects(pty.wait(), CommandExitError)
  },

  'write text': async () => same((await box.files.write('/home/user/a.txt', 'hello')).path, '/home/user/a.txt'),
  'read text': async () => same(await box.files.read('/home/user/a.txt'), 'hello'),
  'read by relative path': async () => same(await box.files.read('a.txt'), 'hello'),
  'write and read bytes': async () => {
    await box.files.write('b.bin', size(2560).buffer)
    same(Buffer.from(await box.files.read('b.bin', { format: 'bytes' })), Buffer.from(size(2560)))
  },
  'write and read megabytes': async () => {
    await box.files.write('c.bin', new Blob([size(3 << 20)]))
    same((await box.files.read('c.bin', { format: 'bytes' })).length, 3 << 20)
  },
  'read as a stream': async () => {
    let count = 0
    for await (const piece of await box.files.read('c.bin', { format: 'stream' })) count += piece.length
    same(count, 3 << 20)
  },
  'read as a blob': async () => same(await (await box.files.read('a.txt', { format: 'blob' })).text(), 'hello'),
  'write as gzip': async () => {
    await box.files.write('zipped.txt', 'text '.repeat(1000), { gzip: true })
    same(await box.files.read('zipped.txt', { gzip: true }), 'text '.repeat(1000))
  },
  'write creates parents': async () => {
    await box.files.write('deep/er/file.txt', 'x')
    same(await box.files.read('deep/er/file.txt'), 'x')
  },
  'write replaces': async () => {
    await box.files.write('a.txt', 'short')
    same(await box.files.read('a.txt'), 'short')
  },
  'write several': async () => {
    const files = [0, 1, 2, 3, 4].map((n) => ({ path: `many/${n}.txt`, data: `${n}` }))
    same((await box.files.write(files)).map((one) => one.path), files.map((one) => `/home/user/${one.path}`))
  },
  'write where it is not allowed': () => rejects(box.files.write('/etc/passwd', 'x'), SandboxError),
  'write with a name of many scripts': async () => {
    await box.files.write("naïve 日本 'q'.txt", 'ok')
    same(await box.files.read("naïve 日本 'q'.txt"), 'ok')
  },
  'read a missing file': () => rejects(box.files.read('missing'), FileNotFoundError),
  'read a directory': () => rejects(box.files.read('many'), /is a directory/),
  'exists': async () => same([await box.files.exists('a.txt'), await box.files.exists('missing')], [true, false]),
  'info of a file': async () => {
    await box.commands.run('chmod 640 a.txt')
    const info = await box.files.getInfo('a.txt')
    same([info.name, info.type, info.size, info.permissions], ['a.txt', 'file', 5, 'rw-r-----'])
  },
  'info of a directory': async () => same((await box.files.getInfo('many')).type, 'dir'),
  'info of a link': async () => {
    await box.commands.run('ln -s a.txt link')
    same((await box.files.getInfo('link')).symlinkTarget, 'a.txt')
  },
  'info of a missing file': () => rejects(box.files.getInfo('missing'), FileNotFoundError),
  'list a directory': async () => {
    same((await box.files.list('many')).map((one) => one.name), [0, 1, 2, 3, 4].map((n) => `${n}.txt`))
  },
  'list to a depth': async () => {
    same((await box.files.list('deep', { depth: 2 })).map((one) => one.path), ['/home/user/deep/er', '/home/user/deep/er/file.txt'])
  },
  'list a missing directory': () => rejects(box.files.list('missing'), FileNotFoundError),
  'list with an invalid depth': () => rejects(box.files.list('many', { depth: 0 }), InvalidArgumentError),
  'make a directory': async () => same(await box.files.makeDir('made/below'), true),
  'make a directory again': async () => same(await box.files.makeDir('made/below'), false),
  'rename': async () => same((await box.files.rename('a.txt', 'made/moved.txt')).path, '/home/user/made/moved.txt'),
  'rename a missing file': () => rejects(box.files.rename('missing', 'x'), FileNotFoundError),
  'remove': async () => {
    await box.files.remove('made')
    same(await box.files.exists('made'), false)
  },
  'remove a missing file': () => rejects(box.files.remove('missing'), SandboxError),
  'watch': async () => {
    await box.files.makeDir('watched')
    watcher = await box.files.watchDir('watched', (event) => events.push(event))
    await box.files.write('watched/new.txt', 'x')
    await until(() => events.length)
    same([events[0].name, events[0].type], ['new.txt', FilesystemEventType.CREATE])
  },
  'watch sees removals': async () => {
    await box.files.remove('watched/new.txt')
    await until(() => events.some((event) => event.type === FilesystemEventType.REMOVE))
  },
  'watch ends': async () => {
    await watcher.stop()
    const count = events.length
    await box.files.write('watched/late.txt', 'x')
    await later(600)
    same(events.length, count)
  },
  'watch below a directory': async () => {
    await box.files.makeDir('tree/sub')
    const seen = []
    const other = await box.files.watchDir('tree', (event) => seen.push(event), { recursive: true })
    await box.files.write('tree/sub/leaf', 'x')
    await until(() => seen.length)
    same(seen[0].name, 'sub/leaf')
    await other.stop()
  },
  'watch a missing directory': () => rejects(box.files.watchDir('missing', () => {}), FileNotFoundError),

  'link to download': async () => {
    await box.files.write('linked.txt', 'by link')
    same(await (await fetch(await box.downloadUrl('linked.txt'))).text(), 'by link')
  },
  'link that expires': async () => {
    const url = await box.downloadUrl('linked.txt', { useSignatureExpiration: 60 })
    same((await fetch(url)).status, 200)
    same((await fetch(url.replace('signature_expiration=', 'signature_expiration=1'))).status, 401)
  },
  'link that has expired': async () => {
    same((await fetch(await box.downloadUrl('linked.txt', { useSignatureExpiration: -5 }))).status, 401)
  },
  'link to upload': async () => {
    const form = new FormData()
    form.append('file', new Blob(['content']), 'f')
    same((await fetch(await box.uploadUrl('uploaded.txt'), { method: 'POST', body: form })).status, 200)
    same(await box.files.read('uploaded.txt'), 'content')
  },
  'link for another file': async () => {
    const url = await box.downloadUrl('linked.txt')
    same((await fetch(url.replace('linked.txt', 'uploaded.txt'))).status, 401)
  },

  'code prints': async () => same(text((await box.runCode("print('a'); print('b')")).logs.stdout), 'a\nb\n'),
  'code has a value': async () => same((await box.runCode('1 + 2')).text, '3'),
  'code has a text without quotes': async () => same((await box.runCode("'plain'")).text, 'plain'),
  'code keeps variables': async () => {
    await box.runCode('kept = 41')
    same((await box.runCode('kept + 1')).text, '42')
  },
  'code counts its runs': async () => {
    const first = (await box.runCode('1')).executionCount
    same((await box.runCode('1')).executionCount, first + 1)
  },
  'code raises': async () => {
    const { error, logs } = await box.runCode("print('before')\n1/0")
    same([error.name, error.value, text(logs.stdout)], ['ZeroDivisionError', 'division by zero', 'before\n'])
  },
  'code with a syntax error': async () => same((await box.runCode('def')).error.name, 'SyntaxError'),
  'code with callbacks': async () => {
    const seen = []
    await box.runCode("print('x'); display(5); 1/0", {
      onStdout: (message) => seen.push(message.line),
      onResult: (result) => seen.push(result.text),
      onError: (error) => seen.push(error.name),
    })
    same(seen, ['x\n', '5', 'ZeroDivisionError'])
  },
  'code beyond its timeout': async () => {
    await rejects(box.runCode('import time; time.sleep(600)', { timeoutMs: 1000 }), TimeoutError)
    same((await box.runCode('1')).text, '1')
  },
  'code with variables of its own': async () => {
    const { logs } = await box.runCode("import os; print(os.environ['GIVEN'], os.environ['CELL'])", { envs: { CELL: 'v' } })
    same(text(logs.stdout), 'here v\n')
  },
  'code shows a picture': async () => {
    const { results } = await box.runCode('import matplotlib.pyplot as plt\nplt.plot([1, 2], [3, 4])\nplt.show()')
    same(Buffer.from(results[0].png, 'base64').subarray(1, 4).toString(), 'PNG')
  },
  'code shows a line chart': async () => {
    const { results } = await box.runCode("plt.figure(); plt.plot([1, 2], [4, 5], label='up'); plt.title('T'); plt.show()")
    const { type, title, elements } = results[0].chart
    same([type, title, elements[0].label, elements[0].points], ['line', 'T', 'up', [[1, 4], [2, 5]]])
  },
  'code shows a bar chart': async () => {
    const { results } = await box.runCode("plt.figure(); plt.bar(['a', 'b'], [3, 4]); plt.show()")
    same(results[0].chart.elements.map((one) => [one.label, one.value]), [['a', 3], ['b', 4]])
  },
  'code shows a pie chart': async () => {
    const { results } = await box.runCode("plt.figure(); plt.pie([1, 3], labels=['a', 'b']); plt.show()")
    same(results[0].chart.type, 'pie')
  },
  'code shows a table': async () => {
    const { results } = await box.runCode("import pandas as pd; pd.DataFrame({'a': [1, 2]})")
    ok(results[0].html.includes('<table'))
    same(results[0].data, { a: [1, 2] })
  },
  'code sees the same files': async () => same((await box.runCode("open('linked.txt').read()")).text, 'by link'),
  'code that kills its interpreter': async () => {
    ok((await box.runCode('import os, signal; os.kill(os.getpid(), signal.SIGKILL)')).error)
    same((await box.runCode('1')).text, '1')
  },
  'code in an unknown language': () => rejects(box.runCode('x', { language: 'cobol' }), SandboxError),
  'code in bash': async () => same(text((await box.runCode('echo $HOME', { language: 'bash' })).logs.stdout), '/home/user\n'),
  'code in javascript': async () => {
    await box.runCode('const seven = 7', { language: 'js' })
    same(text((await box.runCode('console.log(seven)', { language: 'js' })).logs.stdout), '7\n')
  },

  'create a context': async () => {
    context = await box.createCodeContext()
    same([context.language, context.cwd], ['python', '/home/user'])
  },
  'context has variables of its own': async () => {
    await box.runCode('own = 1', { context })
    same((await box.runCode('own')).error.name, 'NameError')
    same((await box.runCode('own', { context })).text, '1')
  },
  'context in a directory': async () => {
    const other = await box.createCodeContext({ cwd: '/home/user/many' })
    same((await box.runCode('import os; os.getcwd()', { context: other })).text, '/home/user/many')
    await box.removeCodeContext(other)
  },
  'list of contexts': async () => ok((await box.listCodeContexts()).some((one) => one.id === context.id)),
  'restart a context': async () => {
    await box.restartCodeContext(context)
    same((await box.runCode('own', { context })).error.name, 'NameError')
  },
  'remove a context': async () => {
    await box.removeCodeContext(context)
    await rejects(box.runCode('1', { context }), /not found|no sandbox|404/i)
  },

  'kill in the middle of code': async () => {
    const other = await Sandbox.create({ timeoutMs: 60_000 })
    const running = other.runCode('import time; time.sleep(60)')
    setTimeout(() => Sandbox.kill(other.sandboxId), 1000)
    await rejects(running)
  },
  'kill in the middle of a command': async () => {
    const other = await Sandbox.create({ timeoutMs: 60_000 })
    const running = await other.commands.run('sleep 60', { background: true })
    await other.kill()
    await rejects(running.wait())
  },
  'timeout ends a sandbox': async () => {
    const other = await Sandbox.create({ timeoutMs: 1000 })
    await until(async () => !(await other.isRunning()))
    await rejects(other.commands.run('true'))
  },
  'kill': async () => same(await box.kill(), true),
  'kill again': async () => same(await box.kill(), false),
  'is running after the end': async () => same(await box.isRunning(), false),
  'code after the end': () => rejects(box.runCode('1'), SandboxError),
}

for (const [name, step] of Object.entries(steps)) {
  let outcome = 'yes'
  let why = ''
  try {
    await step()
  } catch (error) {
    outcome = 'FAILED'
    why = `${error.stack ?? error}`.slice(0, 1500)
  }
  console.log(JSON.stringify({ name, outcome, why }))
}
process.exit(0)
