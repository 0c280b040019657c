import { type Capability, ERASE, Kind, READ_TARGETED, stringifyExact } from '@meup/protocol'
import { hasUnseen } from '../exact-json.js'
import { isObject, onOneLine } from '../text.js'

/** Verbs for kinds, in a sentence about what a participant may do. */
const deeds: Readonly<Record<string, string>> = {
  '*': 'do everything',
  [Kind.chat]: 'send messages',
  'chat.*': 'send and acknowledge messages',
  'reasoning.*': 'think aloud, and interrupt runs',
  'mcp.*': 'call, propose and answer anything',
  [Kind.mcpRequest]: 'make requests (such as calls of tools)',
  [Kind.mcpProposal]: 'propose calls',
  [Kind.mcpResponse]: 'answer calls',
  [Kind.mcpReject]: 'reject proposals',
  [Kind.observeVisibility]: 'hide and show the thoughts of runs',
  [READ_TARGETED]: 'read what is addressed to others',
  [ERASE]: 'erase what was said',
  'capability.*': 'grant and revoke capabilities',
  [Kind.capabilityGrant]: 'grant capabilities',
  [Kind.capabilityRevoke]: 'revoke grants',
  'participant.*': 'pause and resume participants',
  [Kind.participantPause]: 'pause participants',
  [Kind.participantResume]: 'resume participants',
  [Kind.reasoningCancel]: 'interrupt runs',
  'space.*': 'invite and remove participants',
  [Kind.spaceInvite]: 'invite participants',
  [Kind.spaceKick]: 'remove participants',
}

/** A capability as a sentence without its subject: `call read_* of files where path is docs/*`. */
export function capabilitySentence(capability: Capability): string {
  if (typeof capability === 'string') return deedOf(capability)
  if (!('kind' in capability)) {
    const { tool, arguments: args } = capability
    const [owner = '', name = '*'] = tool.split(/\/(.*)/s)
    return onOneLine(`call ${name} of ${owner}${whereText(args)}`)
  }
  const { kind, to, context, payload } = capability
  const place = context === undefined ? '' : ` in ${list(context)}`
  const call = readCall(payload)
  if (kind === Kind.mcpRequest && call !== undefined)
    return onOneLine(
      `call ${call.name}${to === undefined ? '' : ` of ${list(to)}`}${whereText(call.args)}${place}`,
    )
  const target = to === undefined ? '' : ` to ${list(to)}`
  const rest = payload === undefined ? '' : ` where ${JSON.stringify(payload)}`
  return onOneLine(`${list(kind, deedOf)}${target}${place}${rest}`)
}

const deedOf = (kind: string): string => {
  if (Object.hasOwn(deeds, kind)) return deeds[kind] ?? kind
  return kind.includes('/') ? `call ${onOneLine(kind)}` : `send ${onOneLine(kind)}`
}

/** Reads the tool and the arguments from the payload of a capability for calls; `undefined` if it has other conditions. */
function readCall(payload: unknown): { readonly name: string; readonly args: unknown } | undefined {
  if (!isObject(payload) || payload.method !== 'tools/call' || !isObject(payload.params)) return undefined
  const { name, arguments: args, ...others } = payload.params
  const isKnown = Object.keys(payload).length === 2 && Object.keys(others).length === 0
  return isKnown && name !== undefined ? { name: list(name), args } : undefined
}

function whereText(args: unknown): string {
  if (args === undefined) return ''
  if (!isObject(args)) return ` where the arguments are ${stringifyExact(args)}`
  const parts = Object.entries(args).map(([name, pattern]) => `${quote(name)} is ${list(pattern)}`)
  return parts.length === 0 ? '' : ` where ${parts.join(' and ')}`
}

/** Lists alternatives: `a, b or c, but not d`. Values other than strings, and invisible characters, are written as JSON. */
function list(value: unknown, say: (text: string) => string = quote): string {
  const all = Array.isArray(value) ? value : [value]
  const isNot = (each: unknown): each is string => typeof each === 'string' && each.startsWith('!')
  const wanted = all.filter((each) => !isNot(each)).map((each) => sayOne(each, say))
  const not = all.filter(isNot).map((each) => sayOne(each.slice(1), say))
  return [either(wanted) || 'anything', either(not)].filter(Boolean).join(', but not ')
}

const sayOne = (value: unknown, say: (text: string) => string): string =>
  typeof value === 'string' ? say(value) : JSON.stringify(value)

const either = (texts: readonly string[]): string =>
  texts.length < 2 ? (texts[0] ?? '') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`

/** Quotes a text that would not be displayed as it is, such as one with spaces or invisible characters. */
const quote = (text: string): string => (hasUnseen(text) || /\s/.test(text) ? JSON.stringify(text) : text)

/** A capability in short form: `mcp.request to files · {"method":"tools/call"}`, `files/read_*`. */
export function capabilityText(capability: Capability): string {
  if (typeof capability === 'string') return onOneLine(capability)
  if (!('kind' in capability)) {
    const { tool, arguments: asked } = capability
    return onOneLine(asked === undefined ? tool : `${tool} · ${stringifyExact(asked)}`)
  }
  const { kind, to, context, payload } = capability
  const call = kind === Kind.mcpRequest && context === undefined ? readCall(payload) : undefined
  if (call !== undefined && typeof to === 'string') {
    const asked = call.args === undefined ? '' : ` · ${stringifyExact(call.args)}`
    return onOneLine(`${to}/${call.name}${asked}`)
  }
  const shown = (value: unknown): string =>
    typeof value === 'string' ? value : String(stringifyExact(value))
  const parts = [
    `${shown(kind)}${to === undefined ? '' : ` to ${shown(to)}`}${context === undefined ? '' : ` in ${shown(context)}`}`,
    ...(payload === undefined ? [] : [stringifyExact(payload)]),
  ]
  return onOneLine(parts.join(' · '))
}
