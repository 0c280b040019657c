import { matchAt } from './match-at.js'

/** Where the words around it say less, a value has at least so many characters. */
export const weak = 16

/** How a value follows a name, nearly always on the same line, and the characters that a value must have there. */
type Joint = readonly [pattern: RegExp, least: number]

const sign = /[ \t]*[=:!→：]/y
/** Behind a sign. */
const assigned: readonly Joint[] = [
  // `name: string = "…"`, `name := …`, `name => …`
  [
    /[ \t]*(?:=>|:=|→|：|!?={1,3}|:[ \t]*[>|][-+]?[ \t]*\n\s*|:(?:[ \t]*[\w.<>[\]]+[ \t]*=(?=[ \t]*["'`\w]))?)[ \t]*/y,
    12,
  ],
  // `Your token:`, and it alone in the next line
  [/:[ \t]*\n\s{1,12}(?=\S+[ \t]*(?:\n|$))/y, 12],
]

/** Behind anything else. */
const said: readonly Joint[] = [
  [/[ \t]*(?:->|\?=)[ \t]*|[はが은는「：\s]{1,3}(?<=「)/y, 12],
  // `process.env.NAME ?? '…'`
  [/[ \t]*(?:\?\?|\|\|)[ \t]*(?=["'`])|\}?"?\][ \t]*(?:\?\?|\|\|)[ \t]*(?=["'`])/y, 12],
  // `{"name": "token", "value": "…"}`; `- name: TOKEN`, and `value: …` on the next line; `--name token --value …`
  [
    /[ \t]*,?(?:\s{0,40}|(?:[ \t]+\w+=\w+){1,4}[ \t]+)\\{0,2}["']?value\\{0,2}["']?[ \t]*[:=][ \t]*|[ \t]+--?(?:value|body|data|secret-string)[ \t=]+/iy,
    12,
  ],
  // `getByLabel('Password').fill('…')`
  [/\.\w{2,10}\([ \t]*(?=["'`])/y, 12],
  // `setToken("…")`, `("token", "…")`, `| token | …`
  [/[ \t]*\([ \t]*(?=["'`])|[ \t]*,[ \t]*(?=\\{0,2}["'`])|[ \t]*\|[ \t]*/y, 12],
  // `<token>…`, `<entry key="token" type="text">…`, `<name>token</name><value>…`
  [
    /<\/[\w:-]+>\s{0,40}<[\w:-]+>|(?:[ \t][\w:-]+="[^"\n<>]{0,60}")*[ \t]*>(?:\s{0,40}<(?:value|string)>)?/iy,
    12,
  ],
  [/[ \t]+(?:for|of|to|from|on|in|at)[ \t]+[^\n:=.]{1,40}?[ \t]*[:=→][ \t]+/iy, 12],
  // `Your token (shown once):`, and it alone in the next line; `A password is made for root@localhost: …`
  [
    /[ \t(][^\n:]{0,100}:[ \t]*\n\s{0,12}(?:[-*][ \t]+)?(?=\S+[ \t]*(?:\n|$))|[ \t][^\n:=.]{1,60}:[ \t]+(?=\S+[ \t]*(?:\n|$))/y,
    12,
  ],
  [
    /[ \t]+(?:[^\n:=.]{1,60}?[ \t]+)?(?:is|was|are|to|as|will be|lautet|ist|est|es|è|é|jest)(?:[ \t]+(?:now|jetzt|(?:changed|set|reset|rotated) to|replaced (?:by|with)))?:?[ \t]+/iy,
    weak,
  ],
  [/[ \t][^\n:=.]{1,40}[ \t]?:[ \t]+/y, weak],
  [/[ \t]+[-–—][ \t]+|[ \t]+(?:[5-9][ \t]+)?|-(?=[\w+/-]{16,}={0,2}(?:["'`\s]|$))/y, weak],
]

/** How the value of a name may follow it at a place. */
export const jointsAt = (text: string, at: number): readonly Joint[] =>
  matchAt(sign, text, at) === undefined ? said : assigned
