import type { SafetySettings } from '../settings.js'
import { continuationEnd, isVisible } from '../spans.js'
import { builtInRules } from './generated/rules.js'
import { readNeeds } from './pattern-needs.js'

/** Rules that may find what is made of letters alone. */
const lettered = builtInRules.filter(({ inProse }) => inProse !== undefined)
const finds = `(?:${lettered.map(({ inProse }) => inProse).join('|')})`

/**
 * A word of prose, with the signs behind it: of no more than 15 characters, its capitals first, and nothing in it that has
 * to be in a secret. A capital and a colon may mark a prompt. At the end of a line or a text, a number may be of a token, and
 * capitals may at the end of a line.
 */
const word = [
  '[a-z]{1,14}[.,:;?)]?',
  '[A-Z][a-z]{0,13}[.,;?)]?',
  '\\([A-Za-z][a-z]{0,11}[.,;?)]?',
  "[A-Za-z][a-z]{0,8}['\\u2019][a-z]{1,2}[.,;?)]?",
  '\\d{1,4}[.,;?)]?(?! *(?:\\n|$))',
  '\\u2014',
  '[A-Z]{2,6}s?[.,;?)]?(?! *\\n)',
  '[A-Za-z][a-z]{0,10}[.,;?)]{2,3}',
  // Without a blank between them: where one text ended with a sentence and the next began with one.
  `(?=[^ \\n]{1,15}(?:[ \\n]|$))(?:(?!${finds})(?:[a-z]+[.,:;?()]{1,3}|[A-Z][a-z]*[.,;?()]{1,3}))+(?:(?!${finds})[A-Za-z][a-z]*[.,;?)]?)?`,
].join('|')

/** As much prose as there is: that it ends where the text does shows in `lastIndex`, so nothing is tried twice. */
const prose = new RegExp(
  `(?:(?!\\(?${finds})(?:${word})?(?: |\\n(?! *(?:\\(?[A-Z]{4}|\\d(?!\\d?[.)] )))|$))*`,
  'y',
)

/**
 * Whether a text is made of nothing but words of prose: nothing in it, or in a part of it, is a secret to the rules of this
 * package, an instruction to a model, or read in another way than it is written. That rules need what prose is without is
 * proved when they are generated.
 */
export function isProse(text: string): boolean {
  // The same text is asked about several times in a row.
  if (text === asked) return answer
  asked = text
  prose.lastIndex = 0
  prose.test(text)
  answer = prose.lastIndex === text.length
  return answer
}

let asked = ''
let answer = true

/** Characters of a word that two texts make together; of one that goes on to the end of the second, which more may follow. */
const [maxJointChars, maxOpenChars] = [15, 11]
const joint = /^(?!.*(?:[a-z][A-Z]|[A-Z]{4}))[A-Za-z.,:;?()]*$/
const keywords = new RegExp(lettered.flatMap(({ keywords }) => keywords).join('|'), 'i')

/** Whether prose that goes on from prose is just that. `seams`: places where what was said went on within a word. */
export function joinsProse(said: string, seams: readonly number[], text: string): boolean {
  if (said === '' || text === '') return true
  if (keywords.test(said) && (seams.length > 0 || !isProse(said + text))) return false
  let start = said.length
  while (start > 0 && isVisible(said, start - 1)) start--
  let end = 0
  while (end < text.length && isVisible(text, end)) end++
  if (start < said.length && end > 0) {
    if (said.length - start + end > (end < text.length ? maxJointChars : maxOpenChars)) return false
    const run = said.slice(start) + text.slice(0, end)
    if (!joint.test(run) || keywords.test(run)) return false
  } else if (!joinsLines(said, text)) return false
  return !endsInNumber(text, continuationEnd(text))
}

const lastWord = /[^ \n]*[ \n]*$/
const firstWord = /^[ \n]*[^ \n]*/

/** Whether what stands around the end of a line is prose, if that is where one text ends and the other begins. */
function joinsLines(said: string, text: string): boolean {
  const [before = ''] = lastWord.exec(said.slice(-maxGapChars)) ?? []
  const [behind = ''] = firstWord.exec(text.slice(0, maxGapChars)) ?? []
  const gap = before + behind
  return !gap.includes('\n') || (gap.length < maxGapChars && isProse(gap))
}

/** Blanks between words, and the words, are shorter. */
const maxGapChars = 64

/** Whether a part of a text that is looked at alone ends in a number. */
function endsInNumber(text: string, end: number): boolean {
  if (end === text.length) return false
  let at = end
  while (at > 0 && isVisible(text, at - 1)) at--
  return /\d/.test(text.slice(at, end))
}

/** Whether what a space has of its own may have a say in prose. A pattern that is not understood may match anything. */
const mayMatchProse = ({ pattern }: { readonly pattern: string }): boolean =>
  readNeeds(pattern, '', 're2')?.matchesProse !== false

/**
 * Compiles the rules of a space to a check of prose: whether any of them may find something in it, or in what it goes on
 * from.
 */
export function compileProseCheck(
  { rules, policy }: SafetySettings,
  hasVerdict: (text: string) => boolean,
): (said: string, text: string) => boolean {
  const possible = rules.filter(mayMatchProse)
  // Without a keyword, it would have to be tried on all.
  if (possible.some(({ keywords }) => keywords === undefined)) return () => true
  const words = possible.flatMap(({ keywords = [] }) => keywords.map(escapeForRegExp))
  const keyword = words.length > 0 ? new RegExp(words.join('|'), 'i') : undefined
  const isJudged = policy.some(mayMatchProse)
  return (said, text) => keyword?.test(said + text) === true || (isJudged && hasVerdict(text))
}

const escapeForRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
