'use strict';
// Drawable values, detected by their methods, not their library: canvases, charts, SVG and HTML.

const { Array, Buffer, JSON, Promise, String, Uint8Array } = require('./globals.cjs');

const SIGNATURES = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  ['application/pdf', [0x25, 0x50, 0x44, 0x46, 0x2d]],
];
const SVG = /^(?:\s|<\?xml[^>]*>|<!--[^]*?-->|<!DOCTYPE[^>]*>)*<svg[\s>][^]*<\/svg>\s*$/i;
const SVG_SPACE = 'http://www.w3.org/2000/svg';

const has = (value, name) => typeof value[name] === 'function';

/** Returns whether text is a whole SVG document. */
function isSvg(text) {
  return text.includes('<svg') && SVG.test(text);
}

/** The type of an image or document by how its bytes begin; null for others. */
function typeOfBytes(bytes) {
  const found = SIGNATURES.find(([, signature]) =>
    signature.every((byte, at) => bytes[at] === byte),
  );
  if (found) return found[0];
  const isWebp = bytes.length > 12 && Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  return isWebp && /^RIFF....WEBP$/s.test(isWebp) ? 'image/webp' : null;
}

function svgOfNode(node) {
  const text = node.outerHTML;
  return /\sxmlns=/.test(text.slice(0, text.indexOf('>')))
    ? text
    : text.replace(/^<svg/, `<svg xmlns="${SVG_SPACE}"`);
}

function pngOfAddress(address) {
  return Buffer.from(String(address).split(',')[1] ?? '', 'base64');
}

/** The PNG of a canvas of any library, or a promise of it. */
function pngOfCanvas(canvas) {
  if (has(canvas, 'toBufferSync')) return canvas.toBufferSync('png');
  if (has(canvas, 'toBuffer')) return canvas.toBuffer('image/png');
  const address = canvas.toDataURL('image/png');
  return address instanceof Promise ? address.then(pngOfAddress) : pngOfAddress(address);
}

const isCanvas = (value) =>
  typeof value.width === 'number' &&
  typeof value.height === 'number' &&
  has(value, 'getContext') &&
  (has(value, 'toBuffer') || has(value, 'toBufferSync') || has(value, 'toDataURL'));

function ofNode(node) {
  const name = String(node.localName ?? '').toLowerCase();
  if (name === 'svg') return { 'image/svg+xml': svgOfNode(node) };
  if (name === 'canvas' && has(node, 'toDataURL'))
    return { 'image/png': pngOfAddress(node.toDataURL()) };
  return { 'text/html': node.outerHTML };
}

async function ofSpecification(spec) {
  const lite = spec.$schema.includes('/vega-lite/');
  const version = /\/v(\d+)/.exec(spec.$schema)?.[1] ?? (lite ? '5' : '5');
  const forms = {
    [`application/vnd.${lite ? 'vegalite' : 'vega'}.v${version}+json`]: JSON.stringify(spec),
  };
  const picture = await drawSpecification(spec, lite);
  return picture === null ? forms : { 'image/svg+xml': picture, ...forms };
}

/** The picture of a specification, where the libraries that draw it are installed. */
async function drawSpecification(spec, lite) {
  const load = globalThis.__load;
  try {
    const vega = await load('vega');
    const compiled = lite ? (await load('vega-lite')).compile(spec).spec : spec;
    return await new vega.View(vega.parse(compiled), { renderer: 'none' }).toSVG();
  } catch (error) {
    if (error?.code === 'ERR_MODULE_NOT_FOUND' || error?.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

const isSpecification = (value) =>
  typeof value.$schema === 'string' && /\/schema\/vega(?:-lite)?\//.test(value.$schema);

/**
 * The forms of something drawn, by MIME type, and what drew it; null for what is none. The forms, or
 * one of them, may be a promise.
 */
function draw(value) {
  const drawn = (source, data) => ({ source, data });
  if (typeof value === 'string')
    return isSvg(value) ? drawn('svg', { 'image/svg+xml': value }) : null;
  if (value === null || typeof value !== 'object') return null;
  if (value instanceof Uint8Array) {
    const type = typeOfBytes(value);
    return type === null ? null : drawn('image', { [type]: value });
  }
  if (has(value, 'toSVG') && has(value, 'runAsync'))
    return drawn('vega', { 'image/svg+xml': value.toSVG() });
  if (isSpecification(value)) return drawn('vega', ofSpecification(value));
  if (has(value, 'renderToSVGString'))
    return drawn('echarts', { 'image/svg+xml': value.renderToSVGString() });
  if (isCanvas(value)) return drawn('canvas', { 'image/png': pngOfCanvas(value) });
  if (value.canvas && isCanvas(value.canvas) && value.config && value.data) {
    return drawn('chart.js', { 'image/png': pngOfCanvas(value.canvas) });
  }
  if (has(value, 'node') && Array.isArray(value._groups)) {
    const node = value.node();
    return node?.nodeType === 1 ? drawn('d3', ofNode(node)) : null;
  }
  if (value.nodeType === 1 && typeof value.outerHTML === 'string') return drawn('', ofNode(value));
  if (value.nodeType === 9 && value.documentElement)
    return drawn('', ofNode(value.documentElement));
  return null;
}

module.exports = { draw, isSvg, typeOfBytes };
