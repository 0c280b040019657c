import type { Span } from '../span.js'
import type { Detector } from './detector.js'
import { looksBegun, looksMadeUp, looksRandom } from './random.js'

/** `new Vendor(`, `vendor.NewClient(`, `Vendor::Client.new(`: what is given to it alone may be what it is known by. */
const construction = /(?:(?<![\w$])new[ \t]+[A-Za-z_\\][\w.:\\]{0,60}|[Cc]lient(?:(?:\.|::)new)?)$/
const values = /(?:id|oid|uuid|guid|hash|digest|error|buffer|array|date|regexp|url|uri|version|etag)$/i
/** What makes a key of its one argument. */
const ciphers = /(?:hmac(?:\.new)?|totp|hotp|fernet|fromhex|fromhexstring|jwt\.sign)$/i
/** What takes a password, or a key, behind a name, an address, or a file. */
const logins =
  /(?:auth\w*|log_?in|log_?on|sign_?in|(?:simple_?)?bind\w*|connect\w*|connection|open|credentials?|account\w*|profile|session|basic|winrm\.\w+|client\w*|pdo|mysqli|smtp\w*|ftp\w*|imap\w*|ldap\w*|amqp\w*|mqtt\w*|jira|sequelize|engine|driver|pw_set|password\w*|certificate\d?|load|sign|createhmac|start|search|encrypt|decrypt|hmac(?:\.new)?)(?:\.new|::new|\.basic|\.of|\.from)?$/i

const callee = /(?:new[ \t]+)?[\w$.:>\\-]{1,80}=?$/
/** A string of code; what is within the parentheses goes up to the end of the line. */
const string = /(?<![\w"'`])[bN@]?(["'`])((?:(?!\1)[^\n]){1,512})(?:\1|$)/g
const furthest = 400

/** Where its evidence begins. */
interface Given extends Span {
  readonly from: number
}

/** What a client is given without a name for it. */
export const clientCredentials: Detector = {
  name: 'client-credential',
  action: 'mask',
  words: ['("', "('", '(`', '(b"', "(b'", '(@"'],
  find(text, found, { isWanted, seam = text.length }) {
    const secrets: Span[] = []
    for (const { start } of found) {
      for (const { from, ...secret } of argumentsAt(text, start, seam)) {
        if (secret.start < (secrets.at(-1)?.end ?? 0) || !isWanted({ start: from, end: secret.end })) continue
        secrets.push(secret)
      }
    }
    return secrets
  },
}

function argumentsAt(text: string, at: number, seam: number): Given[] {
  const called = callee.exec(text.slice(Math.max(0, at - 80), at))?.[0]
  if (called === undefined) return []
  const name = called.replace(/=$/, '')
  const [isMade, isLogin, isCipher] = [construction.test(name), logins.test(name), ciphers.test(name)]
  if (!(isMade || isLogin || isCipher) || values.test(name)) return []
  const from = at - called.length
  const given: Given[] = []
  const end = endOfCall(text, at)
  string.lastIndex = at
  for (let index = 0; index < 6; index++) {
    const match = string.exec(text)
    if (match === null || match.index >= end) break
    const value = match[2] ?? ''
    const start = match.index + match[0].indexOf(value, match[0].indexOf(match[1] ?? '') + 1)
    const secret = { from, start, end: start + value.length }
    if (/^["'`]?[ \t]*(?:=>|:(?!:)|=)/.test(text.slice(secret.end, secret.end + 8))) continue
    // What is said in pieces may go on.
    const isOpen = secret.start < seam && seam < secret.end && secret.end === text.length
    const isFirst = index === 0
    const isSecret =
      !/[\s;<>(){}]/.test(value) &&
      ((isOpen && looksBegun(value)) ||
        (isFirst
          ? (isMade && looksRandom(value, { least: 20, allowsUuid: /client/i.test(name) })) ||
            (isCipher && looksRandom(value, { least: 16, allowsUuid: false }))
          : isLogin && (looksMadeUp(value) || looksRandom(value, { least: 14, allowsUuid: true }))))
    if (isSecret) given.push(secret)
  }
  return given
}

/** The parenthesis that closes it, or the end of the line. */
function endOfCall(text: string, at: number): number {
  let depth = 0
  const last = Math.min(text.length, at + furthest)
  for (let end = at; end < last; end++) {
    const character = text[end]
    if (character === '\n') return end
    if (character === '(') depth++
    else if (character === ')' && --depth === 0) return end
  }
  return last
}
