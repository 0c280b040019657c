import type { SafetySettings } from '../settings.js'
import { continuationEnd, isVisible } from '../spans.js'
import { builtInRules } from './generated/rules.js'
import { readNeeds } from './pattern-needs.js'

/** Rules with patterns that may match text of letters only. */
const lettered = builtInRules.filter(({ inProse }) => inProse !== undefined)
const finds = `(?:${lettered.map(({ inProse }) => inProse).join('|')})`

/**
 * Matches a word of prose with punctuation: at most 15 characters, capitals first, and without the required parts of secrets. A
 * capital and a colon may mark a prompt. A number at the end of a line or text, or capitals at the end of a line, may belong to
 * a token.
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
  // Two sentences without a blank between them, because one text ended and the next one began.
  `(?=[^ \\n]{1,15}(?:[ \\n]|$))(?:(?!${finds})(?:[a-z]+[.,:;?()]{1,3}|[A-Z][a-z]*[.,;?()]{1,3}))+(?:(?!${finds})[A-Za-z][a-z]*[.,;?)]?)?`,
].join('|')

/** Matches as much prose as possible, once: the caller compares `lastIndex` with the end, so that nothing is tried twice. */
const prose = new RegExp(
  `(?:(?!\\(?${finds})(?:${word})?(?: |\\n(?! *(?:\\(?[A-Z]{4}|\\d(?!\\d?[.)] )))|$))*`,
  'y',
)

/**
 * Whether a text consists only of words of prose, so that no part of it is a secret by the built-in rules, an instruction to a
 * model, or an encoding. When the rules are generated, it is proved that they do not match prose.
 */
export function isProse(text: string): boolean {
  // The same text is often checked several times in a row, so the last answer is kept.
  if (text === asked) return answer
  asked = text
  prose.lastIndex = 0
  prose.test(text)
  answer = prose.lastIndex === text.length
  return answer
}

let asked = ''
let answer = true

/** Maximum characters of a word across two texts, and of such a word that may continue after the second text. */
const [maxJointChars, maxOpenChars] = [15, 11]
const joint = /^(?!.*(?:[a-z][A-Z]|[A-Z]{4}))[A-Za-z.,:;?()]*$/
const keywords = new RegExp(lettered.flatMap(({ keywords }) => keywords).join('|'), 'i')

/** Whether two consecutive texts of prose are prose together. `seams`: boundaries within words. */
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

/** Whether the surroundings of a line break between two texts are prose. */
function joinsLines(said: string, text: string): boolean {
  const [before = ''] = lastWord.exec(said.slice(-maxGapChars)) ?? []
  const [behind = ''] = firstWord.exec(text.slice(0, maxGapChars)) ?? []
  const gap = before + behind
  return !gap.includes('\n') || (gap.length < maxGapChars && isProse(gap))
}

/** Maximum number of blanks between words, and maximum characters of a word. */
const maxGapChars = 64

/** Whether the part of a text before `end` ends in a number. */
function endsInNumber(text: string, end: number): boolean {
  if (end === text.length) return false
  let at = end
  while (at > 0 && isVisible(text, at - 1)) at--
  return /\d/.test(text.slice(at, end))
}

/** Whether a rule of the space may match prose. A pattern with unsupported syntax may match anything. */
const mayMatchProse = ({ pattern }: { readonly pattern: string }): boolean =>
  readNeeds(pattern, '', 're2')?.matchesProse !== false

/**
 * Compiles the rules of a space to a function that checks whether any rule may match a text of prose and the text before it.
 */
export function compileProseCheck(
  { rules, policy }: SafetySettings,
  hasVerdict: (text: string) => boolean,
): (said: string, text: string) => boolean {
  const possible = rules.filter(mayMatchProse)
  // A rule without keywords has to be tried on every text.
  if (possible.some(({ keywords }) => keywords === undefined)) return () => true
  const words = possible.flatMap(({ keywords = [] }) => keywords.map(escapeForRegExp))
  const keyword = words.length > 0 ? new RegExp(words.join('|'), 'i') : undefined
  const isJudged = policy.some(mayMatchProse)
  return (said, text) => keyword?.test(said + text) === true || (isJudged && hasVerdict(text))
}

const escapeForRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
