import type { Span } from '../span.js'
import type { Detector } from './detector.js'
import { looksBegun, looksRandom } from './random.js'

/** `new Vendor(`, `vendor.NewClient(`, `Vendor::Client.new(`: what is given to it alone may be what it is known by. */
const construction =
  /(?:(?<![\w$])new[ \t]+(?:[A-Za-z_\\][\w.:\\]{0,60})|[Cc]lient(?:(?:\.|::)new)?)\([ \t]*$/
const values =
  /(?:id|oid|uuid|guid|hash|digest|error|buffer|array|date|regexp|url|uri|version|etag)\([ \t]*$/i
const argument = /(["'`])([^\s"'`;<>(){}]{8,512})(?:\1[ \t]*[,)]|$)/y

/** `curl -u '…:'` */
const user = /-u(?:ser)?[ \t=]*["'`]?([^\s"'`:]{16,512}):?["'`]?(?=\s|$)/iy

/** Where its evidence begins. */
interface Given extends Span {
  readonly from: number
}

/** What a client is given without a name for it. */
export const clientCredentials: Detector = {
  name: 'client-credential',
  action: 'mask',
  words: ['("', "('", '(`', '-u ', '-user ', '-user='],
  find(text, found, { isWanted, seam = text.length }) {
    const secrets: Span[] = []
    for (const { start } of found) {
      const secret = text[start] === '(' ? argumentAt(text, start + 1, seam) : userAt(text, start)
      if (secret === undefined || secret.start < (secrets.at(-1)?.end ?? 0)) continue
      if (isWanted({ start: secret.from, end: secret.end })) secrets.push(secret)
    }
    return secrets
  },
}

function argumentAt(text: string, at: number, seam: number): Given | undefined {
  argument.lastIndex = at
  const value = argument.exec(text)?.[2]
  if (value === undefined) return undefined
  const made = construction.exec(text.slice(Math.max(0, at - 80), at))?.[0]
  if (made === undefined || values.test(made)) return undefined
  const secret = { from: at - made.length, start: at + 1, end: at + 1 + value.length }
  // What is said in pieces may go on.
  if (secret.start < seam && seam < secret.end && argument.lastIndex === secret.end && looksBegun(value))
    return secret
  return looksRandom(value, { least: 20, allowsUuid: /client/i.test(made) }) ? secret : undefined
}

function userAt(text: string, at: number): Given | undefined {
  user.lastIndex = at
  const value = user.exec(text)?.[1]
  if (value === undefined || !looksRandom(value, { least: 16, allowsUuid: true })) return undefined
  const start = text.indexOf(value, at)
  return { from: at, start, end: start + value.length }
}
