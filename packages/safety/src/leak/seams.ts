/** Stands in what was said where one text ended and the next began within a word. No text has this noncharacter. */
const seam = '\uffff'
/** Seams at which a secret is looked for: each costs a look of its own. */
const most = 8

/** Whether a name may, of which the words stand apart: `public`, ` key`. */
export const mayNameGoOn = (before: string, text: string): boolean =>
  /[\w-] ?$/.test(before) && /^ ?[\w-]/.test(text)

/** One text behind another; where nothing parts their words, the place is marked. */
export const joinAtSeam = (before: string, text: string): string =>
  `${before}${/[\w-]$/.test(before) && /^[\w-]/.test(text) ? seam : ''}${withoutSeams(text)}`

export const withoutSeams = (said: string): string => said.replaceAll(seam, '')

/** What a text may go on from. */
export interface Beginning {
  readonly before: string
  /** It begins at a seam. */
  readonly isCut: boolean
}

/**
 * What a text may go on from: all that was said, and what was said since each of the last seams. A secret may begin there,
 * whatever the text before it ends with: `go` and `AKIA…` are two words.
 */
export function beginningsIn(said: string): readonly Beginning[] {
  const parts = said.split(seam)
  const cut = Array.from({ length: Math.min(most, parts.length - 1) }, (_, i) => parts.slice(-1 - i).join(''))
  return [
    { before: parts.join(''), isCut: false },
    ...cut.map((before): Beginning => ({ before, isCut: true })),
  ]
}
