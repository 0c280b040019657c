import type { Span } from '../span.js'
import type { Replacement } from './view.js'

/** Shorter runs hold nothing that a rule would know. */
const shortest = 16
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_'
const isDigit = new Uint8Array(0x80)
for (const digit of alphabet) isDigit[digit.charCodeAt(0)] = 1

/** A word that only looks like a run decodes to noise, which has no such stretch. */
const readable = /[\t\n\r -~]{11,}/g
/** It belongs to a run, but says nothing. */
const padding = /={0,2}/y

/** Reads base64 of either alphabet, padded or not. A run is one thing, whichever part of it is of interest. */
export function* base64(text: string): Generator<Replacement> {
  for (const { start, end } of runsIn(text)) {
    const by = readRun(text.slice(start, end).replaceAll('-', '+').replaceAll('_', '/'))
    if (by === '') continue
    padding.lastIndex = end
    yield { start, end: end + (padding.exec(text)?.[0].length ?? 0), by }
  }
}

/** Of so many characters in a row, one at least is looked at. */
function* runsIn(text: string): Generator<Span> {
  const isInRun = (at: number): boolean => isDigit[text.charCodeAt(at)] === 1
  for (let at = shortest - 1; at < text.length; at += shortest) {
    if (!isInRun(at)) continue
    let start = at
    while (isInRun(start - 1)) start--
    let end = at + 1
    while (isInRun(end)) end++
    if (end - start >= shortest) yield { start, end }
    at = end
  }
}

/** What a run says, wherever in its first four characters it begins: a path or a word may stand before it. */
const readRun = (run: string): string =>
  [0, 1, 2, 3].flatMap((from) => decodeFrom(run, from).match(readable) ?? []).join('\n')

function decodeFrom(run: string, from: number): string {
  // One character left over carries less than a byte.
  const isOver = (run.length - from) % 4 === 1
  return atob(run.slice(from, isOver ? -1 : undefined))
}
