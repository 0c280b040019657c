import { describe, expect, test } from 'vitest'
import { filesUnder } from './files.js'
import { readText } from './packages.js'

interface Table {
  /** The name of the table in the sources below `folder`. */
  readonly name: string
  readonly folder: string
  readonly texts: Readonly<Record<string, string>>
  /** Texts of one sentence, because nothing can be done, or the sentence says what to do. */
  readonly short?: readonly string[]
  /** The beginning of the texts: a sentence, if it does not continue a path. */
  readonly begins?: RegExp
}

const sentence = /^(?:[A-Z{"]|(?:after|orPropose|session|thread_id)\b)/

/** Tests that each message in a table of error messages says what happened, with the value, then what to do, and is used. */
export function describeErrorTexts({ name, folder, texts, short = [], begins = sentence }: Table): void {
  describe(`${name} say what happened, with the value. Then what to do.`, () => {
    test.for(Object.entries(texts))('%s: %s', ([key, text]) => {
      expect(text).toMatch(begins)
      expect(text).toMatch(/^[^;]*[.}]$/)
      expect(text).not.toMatch(/[.?] [a-z]|\b(?:told|tells?|nobody|whoever)\b/)
      expect(text.length).toBeLessThanOrEqual(200)
      expect(/\. (?:[A-Z{])/.test(text)).toBe(!short.includes(key))
    })
  })

  test(`each of ${name} is used, and differs from the others`, () => {
    const code = filesUnder(folder).map(readText).join('\n')
    const unused = Object.keys(texts).filter(
      (key) => !new RegExp(`\\b${name}\\.${key}\\b|'${key}'`).test(code),
    )
    expect(unused).toEqual([])
    expect(new Set(Object.values(texts)).size).toBe(Object.keys(texts).length)
  })
}
