'use strict';
// Standard streams: unbuffered outputs, and an input that starts anew with each run.

const { Buffer, Object, process } = require('./globals.cjs');

const fs = require('fs');
const net = require('net');
const { Readable, Writable } = require('stream');

const { writeAll } = require('./channel.cjs');

/** A standard output whose every write has happened when it returns. */
function output(fd) {
  const stream = new Writable({
    autoDestroy: false,
    decodeStrings: false,
    emitClose: false,
    write(chunk, encoding, done) {
      try {
        writeAll(fd, typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
        done();
      } catch (error) {
        done(error);
      }
    },
  });
  stream.fd = fd;
  stream._type = 'pipe';
  stream._isStdio = true;
  stream.destroySoon = stream.destroy;
  // Whoever ends or destroys it, as a pipeline does, has seen it end; it goes on for the others.
  stream._destroy = function destroy(error, done) {
    done(error);
    this._undestroy();
    process.nextTick(() => this.emit('close'));
  };
  stream.end = function end(...given) {
    const last = given.find((item) => typeof item === 'function');
    const [chunk, encoding] = given.filter((item) => typeof item !== 'function');
    if (chunk !== undefined && chunk !== null) this.write(chunk, encoding);
    process.nextTick(() => {
      this.emit('finish');
      last?.();
    });
    return this;
  };
  stream.on('error', () => {});
  return stream;
}

/** A new standard input: the descriptor opened anew, so that neither its end nor its mode stays. */
function input() {
  let fd;
  try {
    fd = fs.openSync('/proc/self/fd/0', fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch {
    return fs.createReadStream(null, { fd: 0, autoClose: false });
  }
  const first = Buffer.allocUnsafe(1 << 16);
  let count = -1;
  try {
    count = fs.readSync(fd, first, 0, first.length, null);
  } catch (error) {
    if (error.code !== 'EAGAIN') count = 0;
  }
  if (count === 0) {
    fs.closeSync(fd);
    const empty = new Readable({ read() {} });
    empty.push(null);
    const itself = () => empty;
    return Object.assign(empty, { fd: 0, ref: itself, unref: itself });
  }
  const socket = new net.Socket({ fd, readable: true, writable: false });
  if (count > 0) socket.unshift(first.subarray(0, count));
  return socket;
}

let current = null;

/** Puts the outputs in the place of Node's own. */
function installOutputs() {
  for (const [name, fd] of [
    ['stdout', 1],
    ['stderr', 2],
  ]) {
    const stream = output(fd);
    Object.defineProperty(process, name, {
      configurable: true,
      enumerable: true,
      get: () => stream,
    });
  }
}

/** Puts all streams in the place of Node's own. */
function install() {
  installOutputs();
  Object.defineProperty(process, 'stdin', {
    configurable: true,
    enumerable: true,
    get: () => (current ??= input()),
  });
}

/** Lets go of the input of the run that has ended. */
function endInput() {
  const stream = current;
  current = null;
  if (stream === null) return;
  stream.removeAllListeners();
  stream.on('error', () => {});
  stream.destroy();
}

module.exports = { endInput, install, installOutputs };
