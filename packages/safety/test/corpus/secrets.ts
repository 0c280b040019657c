import type { Family } from './families/family.js'
import { families } from './families/index.js'
import { draw } from './grammar.js'
import { namesOf } from './names.js'
import { places } from './places/index.js'
import type { Place } from './places/place.js'
import { Random } from './random.js'

/** A text that contains one secret. */
export interface SecretCase {
  readonly family: string
  readonly group: string
  readonly place: string
  /** The place, and the template that the text was made from. */
  readonly notation: string
  readonly text: string
  /** The random parts of the secret in the text; for a key, each line is a part. */
  readonly secrets: readonly string[]
}

/**
 * Makes texts: `perPair` for every family in every possible place. A case depends only on the seed, the names of its family and
 * its place, and their grammars: added families do not change it.
 */
export const secretCases = (seed: string, perPair: number): SecretCase[] =>
  families.flatMap((family) =>
    places.flatMap((place) => {
      const notations = notationsOf(family, place)
      if (notations.length === 0) return []
      return Array.from({ length: perPair }, (_, index) =>
        caseOf(family, place, notations, new Random(`${seed} ${family.name} ${place.name} ${index}`)),
      )
    }),
  )

const notationsOf = ({ kind }: Family, { notations }: Place): readonly string[] => [
  ...((kind !== 'lines' && notations.named) || []),
  ...(notations[kind] ?? []),
]

function caseOf(family: Family, place: Place, notations: readonly string[], random: Random): SecretCase {
  const { encode = (text: string) => text, quotes = '"', around } = place
  const value = family.draw(random)
  const text = encode(value.text)
  const lines = text.split('\n')
  const tokens: Readonly<Record<string, string>> = {
    ...namesOf(random.pick(family.labels), random),
    q: random.pick([...quotes]),
    value: text,
    bare: /^[\w./+:@%=-]+$/.test(text) ? text : `'${text}'`,
    raw: text,
    escaped: lines.join('\\n'),
  }
  const template = random.pick(notations)
  const written = draw(template, random)
    .text.replace(
      /^( *)(.*)\{block\}/gm,
      (_, indent: string, before: string) => indent + before + lines.join(`\n${indent}`),
    )
    .replace(/\{(\w+)\}/g, (_, token: string) => {
      const name = tokens[token]
      if (name === undefined) throw new Error(`There is no ${token} in ${template}.`)
      return name
    })
  const others = (): string[] => {
    const some = Array.from({ length: random.integer(0, 2) }, () => random.pick(around))
    return [...new Set(some)].map((line) => draw(line, random).text)
  }
  return {
    ...{ family: family.name, group: family.group, place: place.name },
    notation: `${place.name}: ${template.replaceAll('\n', '\\n')}`,
    text: [...others(), written, ...others()].join('\n'),
    secrets: value.secrets.map(encode),
  }
}

/** Minimum characters of a visible part that counts: shorter ones may occur by chance, and are useless. */
const shortestPart = 8

/**
 * Whether a secret is hidden: no eight consecutive characters of its random parts are visible. A mask may leave the fixed
 * beginning of a token, or the first line of a key.
 */
export const isHidden = ({ secrets }: SecretCase, seen: string): boolean =>
  !secrets.some((secret) => partsOf(secret).some((part) => seen.includes(part)))

const partsOf = (secret: string): string[] =>
  Array.from({ length: secret.length - shortestPart + 1 }, (_, at) => secret.slice(at, at + shortestPart))
