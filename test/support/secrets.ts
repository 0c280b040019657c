import { compileSafety, defaultSafety } from '@meup/safety'
import { filesUnder } from './files.js'
import { readText } from './packages.js'

/** A text with a secret in it, such as those that a rule was made for. */
export interface Sample {
  readonly rule: string
  readonly text: string
  /** Parts that must not be visible. */
  readonly secrets: readonly string[]
}

interface RuleFile {
  readonly name: string
  readonly positives: readonly string[]
}

const { guard } = compileSafety(defaultSafety)
const marks = /\[redacted:[a-z0-9-]+\]/

/** Every example of every rule that is built in. */
export function samples(): Sample[] {
  const rules = filesUnder('packages/safety/src/rules', '.json').flatMap(
    (path) => JSON.parse(readText(path)) as RuleFile[],
  )
  return rules.flatMap(({ name, positives }) =>
    positives.map((text) => ({ rule: name, text, secrets: hiddenIn(text) })),
  )
}

/** The parts of a text that marks replace in its visible form. */
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

/** Stretches of a secret as every notation has them: without blanks, quotes, and what has to be escaped. */
export const needlesIn = (secret: string): string[] =>
  secret.split(/[^!#-[\]-~]+|-----[A-Z ]*-----|-----|<|>|&/).filter((piece) => piece.length >= shortestNeedle)

/** Shorter stretches may be anywhere by chance. */
const shortestNeedle = 8

interface Disguised {
  readonly text: string
  readonly needles: readonly string[]
}

/** A text as it is, and in ways that a reader who means to can still read; and what of it says the same as `needles`. */
export function disguises(text: string, needles: readonly string[]): Disguised[] {
  const byCharacter = [zeroWidth, percent, fullWidth].map((disguise) => ({
    text: disguise(text),
    needles: needles.map(disguise),
  }))
  // In texts other than ASCII, base64 is only decoded if it is mostly ASCII.
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

/** The part of a text in base64 that its part `needle` alone decides. */
function insideBase64(text: string, needle: string): string {
  const start = text.indexOf(needle)
  return inBase64(text).slice(Math.ceil(start / 3) * 4, Math.floor((start + needle.length) / 3) * 4)
}
