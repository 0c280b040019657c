import type { Span } from '../span.js'
import type { Detector } from './detector.js'
import { isPlaceholder } from './placeholder.js'
import { looksMadeUp, looksRandom } from './random.js'

/** Both ends of the password: it may have an `@`. */
const userInfo = /:\/\/[^\s:/@"'<>?#]*:([^\s/"'<>{}`]{5,200})@[\w[{$-]/y

/** What is secret of an address whose scheme has ended at `start`, and where what tells it ends. */
type Reading = (text: string, start: number) => { readonly secret: Span; readonly end: number } | undefined

const inAddresses = (name: string, read: Reading): Detector => ({
  name,
  action: 'mask',
  words: ['://'],
  find: (text, found, { isWanted }) =>
    found.flatMap(({ start }) => {
      const told = read(text, start)
      return told !== undefined && isWanted({ start, end: told.end }) ? [told.secret] : []
    }),
})

/** `scheme://user:password@host` */
export const urlCredentials = inAddresses('url-credentials', (text, start) => {
  userInfo.lastIndex = start
  const password = userInfo.exec(text)?.[1]
  if (password === undefined || !isPassword(password)) return undefined
  const end = userInfo.lastIndex - 2
  return { secret: { start: end - password.length, end }, end: userInfo.lastIndex }
})

/** Where nobody expects but a password, anything is one that is not the word for it. */
const isPassword = (value: string): boolean =>
  !isPlaceholder(value) &&
  (looksMadeUp(value) || looksRandom(value, { least: 10, allowsUuid: true }) || short.test(value))
const short = /^(?=.*[A-Za-z])(?=.*[\d!^#&+=%])\S{5,}$/

const address = /:\/\/[^\s"'`<>()|[\]{}?#*]{1,400}/y
const hook = /(?<![a-z])(?:(?:web)?hooks?|ping|inputs|invite|private|rpc|mainnet|feed)(?![a-z])/i

/** The path of a webhook, an invitation or a private feed is all that it takes to use it. */
export const webhooks = inAddresses('webhook-url', (text, start) => {
  address.lastIndex = start
  const url = address.exec(text)?.[0] ?? ''
  if (!hook.test(url)) return undefined
  const secret = partsOf(url, start).find(({ start, end }) =>
    looksRandom(text.slice(start, end), { least: 20, allowsUuid: true }),
  )
  return secret && { secret, end: secret.end }
})

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
