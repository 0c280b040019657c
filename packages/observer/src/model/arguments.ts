// Arguments of a call as texts, if they are as exact as its JSON. People decide by them: if two different calls could have the
// same texts, `readSettings` returns `undefined`, and the JSON is shown instead.

import { hasUnseen, isObject, onOneLine } from '@meup/folds'
import { saysNothing } from './change.js'
import { nameText } from './text.js'

type Fields = Readonly<Record<string, unknown>>

/** Maximum number of listed arguments, and characters of each. */
const [maxSettings, maxSettingChars] = [8, 120]

/** Arguments as pairs of name and text. */
export type Settings = readonly (readonly [name: string, text: string])[]

/** Whether the params of a call have fields besides name and arguments that the texts would omit. */
export function hasOtherParams({ params }: Fields): boolean {
  const { name: _, arguments: __, ...others } = isObject(params) ? params : {}
  return !saysNothing(others)
}

/** Lists a call's arguments as texts, `command` first; `undefined` if texts would be incomplete or ambiguous. */
export function readSettings({ params }: Fields): Settings | undefined {
  if (!isObject(params)) return undefined
  const { name, arguments: args } = params
  if (typeof name !== 'string' || !isObject(args)) return undefined
  const settings = Object.entries(args)
  const isPlain = settings.every(
    ([name, value]) =>
      isPlainName(name) && (isPlainValue(value) || (name === 'command' && isPlainCommand(value))),
  )
  if (!isPlain || settings.length === 0 || settings.length > maxSettings) return undefined
  const texts = settings.map(([name, value]): [string, string] => [name, String(value)])
  return texts.sort(([one], [other]) => Number(other === 'command') - Number(one === 'command'))
}

const maxCommandChars = 1000

/**
 * Whether a command can be shown as text, behind a prompt sign, which distinguishes it from a number. Hidden blanks or line
 * breaks need JSON.
 */
const isPlainCommand = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.length <= maxCommandChars &&
  value.trim() === value &&
  value !== '' &&
  onOneLine(value) === value &&
  !hasUnseen(value)

const isPlainName = (name: string): boolean => /^[\w-]{1,40}$/.test(name)

/** Whether a value can be shown as text: a number, or a text that cannot be mistaken for another value. */
function isPlainValue(value: unknown): boolean {
  // Larger integers and fractions may differ from the text that was sent, because JSON.parse rounds them.
  if (typeof value !== 'string') return Number.isSafeInteger(value) || typeof value === 'boolean'
  const looksLikeOtherType = /^(?:[-+.\d].*|true|false|null|undefined)?$/i.test(value)
  return (
    !looksLikeOtherType &&
    value.length <= maxSettingChars &&
    value.trim() === value &&
    nameText(value) === value &&
    !hasUnseen(value)
  )
}
