import { compileSafety, defaultSafety } from '@meup/safety'
import { filesUnder } from './files.js'
import { readText } from './packages.js'

/** A text with a secret, such as an example of a rule. */
export interface Sample {
  readonly rule: string
  readonly text: string
  /** Parts of the text that must not be visible. */
  readonly secrets: readonly string[]
}

interface RuleFile {
  readonly name: string
  readonly positives: readonly string[]
}

const { guard } = compileSafety(defaultSafety)
const marks = /\[redacted:[a-z0-9-]+\]/

/** Lists all examples of all built-in rules. */
export function samples(): Sample[] {
  const rules = filesUnder('packages/safety/src/rules', '.json').flatMap(
    (path) => JSON.parse(readText(path)) as RuleFile[],
  )
  return rules.flatMap(({ name, positives }) =>
    positives.map((text) => ({ rule: name, text, secrets: hiddenIn(text) })),
  )
}

/** Lists the parts of a text that the guard replaces by marks. */
function hiddenIn(text: string): string[] {
  const [first = '', ...others] = guard(text).text.split(marks)
  let at = first.length
  return others.map((kept, index) => {
    const isLast = index === others.length - 1
    const end = isLast ? text.length - kept.length : text.indexOf(kept, at)
    const hidden = text.slice(at, end)
    at = end + kept.length
    return hidden
  })
}

/**
 * Splits a secret into parts that are the same in every notation: without blanks, quotes, and characters that have to be
 * escaped.
 */
export const needlesIn = (secret: string): string[] =>
  secret.split(/[^!#-[\]-~]+|-----[A-Z ]*-----|-----|<|>|&/).filter((piece) => piece.length >= shortestNeedle)

/** Minimum characters of a part of a secret, because shorter parts may occur by chance. */
const shortestNeedle = 8

interface Disguised {
  readonly text: string
  readonly needles: readonly string[]
}

/**
 * Returns a text unchanged and in several disguises that a reader can undo. `needles`: parts that must not be visible,
 * disguised alike.
 */
export function disguises(text: string, needles: readonly string[]): Disguised[] {
  const byCharacter = [zeroWidth, percent, fullWidth].map((disguise) => ({
    text: disguise(text),
    needles: needles.map(disguise),
  }))
  // The guard decodes base64 only if the result is mostly ASCII.
  const encoded = isAscii(text)
    ? [{ text: inBase64(text), needles: needles.map((each) => insideBase64(text, each)) }]
    : []
  return [{ text, needles }, ...byCharacter, ...encoded]
}

const zeroWidth = (text: string): string => [...text].join('\u200b')
const percent = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('')
const fullWidth = (text: string): string =>
  text.replace(/[!-~]/g, (each) => String.fromCharCode(each.charCodeAt(0) + 0xfee0))

const isAscii = (text: string): boolean => Buffer.from(text).length === text.length
const inBase64 = (text: string): string => Buffer.from(text).toString('base64')

/** Returns the base64 digits of a text that are determined by the part `needle` alone. */
function insideBase64(text: string, needle: string): string {
  const start = text.indexOf(needle)
  return inBase64(text).slice(Math.ceil(start / 3) * 4, Math.floor((start + needle.length) / 3) * 4)
}
