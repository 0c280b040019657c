import type { Span } from '../span.js'
import type { Detector } from './detector.js'
import { looksRandom } from './random.js'

const body = /_[A-Za-z\d]{20,}(?:[_-][A-Za-z\d]+)*={0,2}/y
/** `acme_`, `acme_live_`, `acme.v1_`, behind no other token; what says that it is public is left. */
const prefix =
  /(?<![\w./+-])(?!pk|ph[ct](?:_|$)|\w*pub|(?:in|pi|ch|cus|sub|evt|msg|toolu|req|run|thread|asst|file|call|resp|chatcmpl|price|prod|acct|txn|seti|pm|cs|card|src|tok|org|user|proj|item|batch|step|img|trace|span|build|job|task)(?:_|$))[a-z][a-z\d]{1,9}(?:[_.-][a-z\d]{1,8}){0,2}$/
/** What says that hexadecimal digits are no id, nor a digest. */
const keyed = /(?:sk|key|tok|token|pat|secret|api)\d?$/
const hex = /^[\da-f]+$/i

/** A token with the prefix of a vendor, known or not. */
export const prefixedTokens: Detector = {
  name: 'prefixed-token',
  action: 'mask',
  words: ['_'],
  isAtWords: true,
  glance: /_[A-Za-z\d]{20}/y,
  find(text, found, { isWanted }) {
    const secrets: Span[] = []
    for (const { start } of found) {
      body.lastIndex = start
      if (start < (secrets.at(-1)?.end ?? 0) || !body.test(text)) continue
      const name = prefix.exec(text.slice(Math.max(0, start - 40), start))?.[0]
      const end = body.lastIndex
      const value = text.slice(start + 1, end)
      const isId = hex.test(value) && !(name !== undefined && value.length >= 32 && keyed.test(name))
      const least = name !== undefined && keyed.test(name) ? 20 : 24
      if (name === undefined || isId || !looksRandom(value, { least, allowsUuid: false })) continue
      const secret = { start: start - name.length, end }
      if (isWanted(secret)) secrets.push(secret)
    }
    return secrets
  },
}
