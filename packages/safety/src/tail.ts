import { joinAtSeam, withoutSeams } from './leak/seams.js'
import { phraseStart } from './surroundings.js'
import { isThinking } from './thinking.js'
import { plain } from './views/plain.js'
import { decodeText } from './views/view.js'

/** Characters of what was said last, beside the rest of the word there and its label. */
const usual = 192
/** Characters by which the body of a key is known: fewer than are read behind its header. */
const enoughOfKey = 120

const header = /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{4,5}/g
const footer = /-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{4,5}/
const begunFooter = /-[A-Z0-9 -]{0,60}$/

/**
 * What to give as `before` with the text that follows on `text`, where `before` was given with `text`: the end of what
 * was said, long enough for a secret that goes on. An unfinished private key keeps its beginning, and raw thinking its tag.
 */
export function tailOf(before: string, text: string): string {
  const marked = joinAtSeam(before, text)
  const said = withoutSeams(marked)
  if (isThinking(text, withoutSeams(before))) return `<think>\n${lastWords(marked)}`
  if (!said.includes('PRIVATE KEY')) return lastWords(marked)
  const begun = [...said.matchAll(header)].at(-1)
  if (begun === undefined) return lastWords(said)
  const body = said.slice(begun.index + begun[0].length)
  if (footer.test(body)) return lastWords(said)
  // Where a header is only spoken of, what follows is no key.
  if (!isKeyBody(decodeText(body, plain))) return lastWords(body)
  const rest = body.slice(enoughOfKey)
  return begun[0] + body.slice(0, enoughOfKey) + (begunFooter.exec(rest)?.[0] ?? '')
}

const lastWords = (said: string): string => said.slice(phraseStart(said, said.length - usual, 0))

/** What stands before the body of a key that is encrypted, or of PGP, also where the ends of lines are escaped. */
const keyField = /(?:^|\\n)[ \t>|#*]*[\w-]+:[^\n\\]*/gm
const keyBody = /^[\w\s+/=\\"'.,;>|#*-]*$/
const prose = /[A-Za-z]{2,} [a-z]{2,}/

function isKeyBody(text: string): boolean {
  const body = text.replace(keyField, '')
  return keyBody.test(body) && !prose.test(body)
}
