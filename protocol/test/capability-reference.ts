import type { Capability, Pattern, PayloadPattern, Subject } from '@meup/protocol'

/**
 * A second, simple and slow implementation of capabilities, with which the real one is compared. Accepts well-formed patterns
 * only.
 */
export function referenceAllows(list: readonly Capability[], envelope: Subject): number | undefined {
  const wireKind = envelope.kind.replaceAll('/', '.')
  const allows = ({ kind, to, context, payload }: Written): boolean => {
    if (wireKind === 'observe.targeted') {
      if (kind !== 'observe.targeted' && kind !== 'observe/targeted') return false
    } else if (!matches(kind, wireKind, kindText)) return false
    if (to !== undefined && to !== '**') {
      if (envelope.to === undefined || envelope.to.length === 0) return false
      for (const id of envelope.to) if (!matches(to, id, plainText)) return false
    }
    if (context !== undefined && context !== '**') {
      if (envelope.context === undefined || !matches(context, envelope.context, plainText)) return false
    }
    return payload === undefined || matches(payload, envelope.payload, plainText)
  }
  const at = list.findIndex((capability) => writtenOut(capability).some(allows))
  return at === -1 ? undefined : at
}

export type Written = Extract<Capability, { kind: Pattern }>

/** Expands the aliases in a capability. */
export function writtenOut(capability: Capability): Written[] {
  if (typeof capability === 'string') return writtenOut({ kind: capability })
  if ('kind' in capability) {
    const { kind, payload } = capability
    const isChat = payload === undefined && JSON.stringify([kind].flat()) === '["chat"]'
    if (!isChat) return [capability]
    const kinds = ['chat', 'chat.acknowledge', 'chat.cancel', 'chat.delta']
    return kinds.map((each) => ({ ...capability, kind: [each, each] }))
  }
  const [to = ''] = capability.tool.split('/', 1)
  const name = capability.tool.slice(to.length + 1)
  const params = 'arguments' in capability ? { name, arguments: capability.arguments ?? null } : { name }
  const payloads = [
    { method: 'tools/call', params },
    { method: ['tools/list', 'ping', 'notifications/cancelled'] },
  ]
  return payloads.map((payload) => ({ kind: 'mcp.request', to, payload }))
}

type TextRule = (pattern: string, value: string) => boolean

function matches(pattern: PayloadPattern, value: unknown, text: TextRule): boolean {
  if (Array.isArray(pattern)) {
    const negative = pattern.filter((item) => typeof item === 'string' && item.startsWith('!')) as string[]
    const positive = pattern.filter((item) => !negative.includes(item as string))
    if (negative.some((item) => typeof value === 'string' && text(item.slice(1), value))) return false
    if (positive.length > 0) return positive.some((item) => matches(item, value, text))
    return value === null || ['string', 'number', 'boolean'].includes(typeof value)
  }
  if (typeof pattern === 'string' && pattern.startsWith('!')) return matches([pattern], value, text)
  if (typeof pattern === 'string') return typeof value === 'string' && text(pattern, value)
  if (typeof pattern !== 'object' || pattern === null) return pattern === value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.entries(pattern).every(([key, inner]) => {
    if (key === '**') return descendants(value).some((descendant) => matches(inner, descendant, text))
    const own = Object.entries(value).find(([name]) => name === key)
    return own !== undefined && matches(inner, own[1], text)
  })
}

function descendants(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((child) => [child, ...descendants(child)])
}

const plainText: TextRule = (pattern, value) => {
  if (pattern.startsWith('re:')) return new RegExp(`^(?:${pattern.slice(3)})$`, 'u').test(value)
  return glob([...pattern], [...value], '/')
}

const kindText: TextRule = (pattern, value) => {
  if (pattern.startsWith('re:')) return plainText(pattern, value)
  if (pattern === '*') return true
  const dotted = pattern.replaceAll('/', '.')
  return glob([...(dotted === 'reasoning.step' ? 'reasoning.thought' : dotted)], [...value], '.')
}

function glob(pattern: string[], value: string[], separator: string): boolean {
  const [token, ...rest] = pattern
  const [char, ...chars] = value
  if (token === undefined) return char === undefined
  if (token === '\\') return rest[0] === char && glob(rest.slice(1), chars, separator)
  if (token === '?') return char !== undefined && char !== separator && glob(rest, chars, separator)
  if (token !== '*') return token === char && glob(rest, chars, separator)
  const deep = rest[0] === '*'
  const after = deep ? rest.slice(1) : rest
  if (glob(after, value, separator)) return true
  return char !== undefined && (deep || char !== separator) && glob(pattern, chars, separator)
}
