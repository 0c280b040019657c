import type { Span } from '../span.js'
import type { Detector } from './detector.js'
import { isPlaceholder } from './placeholder.js'
import { looksMadeUp, looksRandom } from './random.js'

const words = ['://']

/** Both ends of the password: it may have an `@`. */
const userInfo = /:\/\/[^\s:/@"'<>?#]*:([^\s/"'<>{}`]{5,200})@[\w[{$-]/y

/** `scheme://user:password@host` */
export const urlCredentials: Detector = {
  name: 'url-credentials',
  action: 'mask',
  words,
  find: (text, found, { isWanted }) =>
    found.flatMap(({ start }) => {
      userInfo.lastIndex = start
      const password = userInfo.exec(text)?.[1]
      if (password === undefined || !isPassword(password)) return []
      const end = userInfo.lastIndex - 2
      const secret = { start: end - password.length, end }
      return isWanted({ start, end: userInfo.lastIndex }) ? [secret] : []
    }),
}

/** Where nobody expects but a password, anything is one that is not the word for it. */
const isPassword = (value: string): boolean =>
  !isPlaceholder(value) &&
  (looksMadeUp(value) || looksRandom(value, { least: 10, allowsUuid: true }) || short.test(value))
const short = /^(?=.*[A-Za-z])(?=.*[\d!^#&+=%])\S{5,}$/

const address = /:\/\/[^\s"'`<>()|[\]{}?#*]{1,400}/y
const hook = /(?<![a-z])(?:(?:web)?hooks?|ping|inputs|invite|private|rpc|mainnet|feed)(?![a-z])/i

/** Who knows the path of a webhook, an invitation or a private feed needs nothing else. */
export const webhooks: Detector = {
  name: 'webhook-url',
  action: 'mask',
  words,
  find: (text, found, { isWanted }) =>
    found.flatMap(({ start }) => {
      address.lastIndex = start
      const url = address.exec(text)?.[0] ?? ''
      if (!hook.test(url)) return []
      const secret = partsOf(url, start).find(({ start, end }) =>
        looksRandom(text.slice(start, end), { least: 20, allowsUuid: true }),
      )
      return secret !== undefined && isWanted({ start, end: secret.end }) ? [secret] : []
    }),
}

/** Of the path. */
function partsOf(url: string, start: number): Span[] {
  const parts: Span[] = []
  let at = start
  for (const [index, part] of url.split('/').entries()) {
    if (index > 2) parts.push({ start: at, end: at + part.length })
    at += part.length + 1
  }
  return parts
}
