import { codeAt } from '../code-at.js'
import { charactersOf, stretchesOf } from '../stretches.js'
import type { Replacement } from './view.js'

/** Shorter runs hold nothing that a rule would know. */
const shortest = 16
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_'
const digits = charactersOf(alphabet)
/** By character code, what a digit stands for. */
const values = new Uint8Array(0x80)
for (const [index, digit] of [...alphabet].entries()) {
  values[digit.charCodeAt(0)] = index < 64 ? index : index - 2
}

/** A word that only looks like a run decodes to noise, which has no such stretch. */
const shortestStretch = 11
const readable = /[\t\n\r -~]{11,}/g
const readableCodes = new Uint8Array(0x100).fill(1, 0x20, 0x7f)
for (const code of [0x09, 0x0a, 0x0d]) readableCodes[code] = 1

/** It belongs to a run, but says nothing. */
const padding = /={0,2}/y

/** Reads base64 of either alphabet, padded or not. A run is one thing, whichever part of it is of interest. */
export function base64(text: string): readonly Replacement[] {
  const replacements: Replacement[] = []
  for (const { start, end } of stretchesOf(digits, shortest, text)) {
    if (!saysSomething(text, start, end)) continue
    const by = readRun(text.slice(start, end).replaceAll('-', '+').replaceAll('_', '/'))
    padding.lastIndex = end
    replacements.push({ start, end: end + (padding.exec(text)?.[0].length ?? 0), by })
  }
  return replacements
}

/** Whether a run decodes to a readable stretch, wherever in its first four characters it begins. */
function saysSomething(text: string, start: number, end: number): boolean {
  for (let from = start; from < start + 4; from++) {
    const length = Math.floor(((end - from) * 3) / 4)
    // Of so many bytes in a row, one at least is looked at.
    for (let at = shortestStretch - 1; at < length; at += shortestStretch) {
      if (!isReadable(text, from, at)) continue
      let first = at
      while (first > 0 && isReadable(text, from, first - 1)) first--
      let last = at
      while (last + 1 < length && isReadable(text, from, last + 1)) last++
      if (last - first + 1 >= shortestStretch) return true
      at = last
    }
  }
  return false
}

/** Whether a byte is, of what is read from `from` on. Four digits are three bytes, each in two that stand side by side. */
function isReadable(text: string, from: number, byte: number): boolean {
  const place = byte % 3
  const at = from + ((byte - place) / 3) * 4 + place
  const two = (valueAt(text, at) << 6) | valueAt(text, at + 1)
  return readableCodes[(two >> (4 - 2 * place)) & 0xff] === 1
}

const valueAt = (text: string, at: number): number => values[codeAt(text, at)] ?? 0

/** What a run says, wherever in its first four characters it begins: a path or a word may stand before it. */
const readRun = (run: string): string =>
  [0, 1, 2, 3].flatMap((from) => decodeFrom(run, from).match(readable) ?? []).join('\n')

function decodeFrom(run: string, from: number): string {
  // One character left over carries less than a byte.
  const isOver = (run.length - from) % 4 === 1
  return atob(run.slice(from, isOver ? -1 : undefined))
}
