import { READ_TARGETED } from '../kinds.js'
import { isPlainObject, type Meter, type Node, parseStrings, parseValue, pointer } from './parse.js'
import { type Capability, PatternError, patternLimits } from './pattern.js'

/** A capability, read. `**` for `to` and `context` matches everything, absence included, so it leaves them out. */
export interface Rule {
  readonly kind: Node
  readonly to?: Node
  readonly context?: Node
  readonly payload?: Node
  /** Whether the kind is literally `observe.targeted`: nothing else confers or covers that [MEUP-4]. */
  readonly targeted: boolean
}

/** Reads capabilities that may come from anywhere. Throws `PatternError`. */
export function parseRules(list: readonly Capability[]): Rule[] {
  if (!Array.isArray(list)) throw new PatternError('', 'give an array of capabilities')
  if (list.length > patternLimits.capabilities) {
    throw new PatternError(
      '',
      `give at most ${patternLimits.capabilities} capabilities: join some with globs`,
    )
  }
  let regexWeight = 0
  return list.map((capability: unknown, i) => {
    const meter = { patterns: 0, regexWeight: 0 }
    const rule = parseRule(capability, `/${i}`, meter)
    regexWeight += meter.regexWeight
    if (regexWeight > patternLimits.listRegexWeight) {
      throw new PatternError(`/${i}`, 'use fewer regular expressions in these capabilities, or shorter ones')
    }
    return rule
  })
}

function parseRule(capability: unknown, path: string, meter: Meter): Rule {
  if (typeof capability === 'string') {
    return { kind: parseStrings(capability, path, '.', meter), targeted: isTargeted(capability) }
  }
  if (!isPlainObject(capability)) throw new PatternError(path, 'give a kind, or an object with a kind')
  if (!Object.hasOwn(capability, 'kind'))
    throw new PatternError(path, 'add a kind: "*" stands for every kind')
  const kind = parseStrings(capability.kind, `${path}/kind`, '.', meter)
  const fields: { to?: Node; context?: Node; payload?: Node } = {}
  for (const [field, pattern] of Object.entries(capability)) {
    const at = `${path}/${pointer(field)}`
    if (field === 'payload') fields.payload = parseValue(pattern, at, meter)
    else if (field === 'to' || field === 'context') {
      if (pattern !== '**') fields[field] = parseStrings(pattern, at, '/', meter)
    } else if (field !== 'kind') {
      throw new PatternError(at, 'remove this field: a capability has kind, to, context and payload')
    }
  }
  return { kind, targeted: isTargeted(capability.kind), ...fields }
}

const isTargeted = (kind: unknown) => typeof kind === 'string' && dotted(kind) === READ_TARGETED

/** A kind with the separator that it has on the wire. */
export const dotted = (kind: string): string => (kind.includes('/') ? kind.replaceAll('/', '.') : kind)
