import { charactersOf, stretchesOf } from '../stretches.js'
import type { Replacement } from './view.js'

/** Shorter runs hold nothing that a rule would know. */
const shortest = 16
const digits = charactersOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_')

/** A word that only looks like a run decodes to noise, which has no such stretch. */
const readable = /[\t\n\r -~]{11,}/g
/** Four digits of three such bytes, thrice: wherever it begins, a stretch has them. */
const begun = /(?:[CDI-Za-f][ACDEFGHQSTUVWXgijklmnwyz0123][ABEFIJMNQRUVYZcdghklopstwx014589][\w+/-]){3}/

/** It belongs to a run, but says nothing. */
const padding = /={0,2}/y

/** Reads base64 of either alphabet, padded or not. A run is one thing, whichever part of it is of interest. */
export function base64(text: string): readonly Replacement[] {
  const replacements: Replacement[] = []
  for (const { start, end } of stretchesOf(digits, shortest, text)) {
    const run = text.slice(start, end)
    const by = begun.test(run) ? readRun(run.replaceAll('-', '+').replaceAll('_', '/')) : ''
    if (by === '') continue
    padding.lastIndex = end
    replacements.push({ start, end: end + (padding.exec(text)?.[0].length ?? 0), by })
  }
  return replacements
}

/** What a run says, wherever in its first four characters it begins: a path or a word may stand before it. */
const readRun = (run: string): string =>
  [0, 1, 2, 3].flatMap((from) => decodeFrom(run, from).match(readable) ?? []).join('\n')

function decodeFrom(run: string, from: number): string {
  // One character left over carries less than a byte.
  const isOver = (run.length - from) % 4 === 1
  return atob(run.slice(from, isOver ? -1 : undefined))
}
