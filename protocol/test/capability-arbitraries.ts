import type { Capability, Pattern, PayloadPattern, Subject } from '@meup/protocol'
import fc from 'fast-check'
import { type Written, writtenOut } from './capability-reference.js'

/** Characters of patterns and values. Few, so that they often match. */
const char = fc.constantFrom('a', 'b', '/', '.', '😀')
const value = fc.string({ unit: char, maxLength: 7 })
const globPart = fc.constantFrom('a', 'b', '/', '.', '*', '**', '?', '😀', '\\a', '\\*', '\\?', '\\/')
const glob = fc.array(globPart, { maxLength: 7 }).map((parts) => parts.join(''))
const regex = fc.constantFrom('re:a+', 're:[ab]*', 're:(a|b/)+.?', 're:a|b', 're:')
const positive = fc.oneof(
  { weight: 8, arbitrary: glob.filter((text) => !isRegex(text)) },
  { weight: 1, arbitrary: regex },
)
const text = fc.oneof(
  { weight: 4, arbitrary: positive },
  { weight: 1, arbitrary: positive.map((p) => `!${p}`) },
)
const pattern: fc.Arbitrary<Pattern> = fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 3 }))

const kindValue = fc.constantFrom(
  'a',
  'a.b',
  'a.b.a',
  'b.a',
  'b',
  'observe.targeted',
  'reasoning.start',
  'reasoning.thought',
  'reasoning.step',
  'chat',
  'chat.cancel',
  'mcp.request',
)
const kindText = fc.oneof(
  fc.constantFrom('*', '**', 'a.*', 'a/**', '*.b', '?', '??a', '!a', '!a.*', 're:a\\..*', 'a*', '**.a'),
  fc.constantFrom('reasoning.*', 'reasoning/step', 'observe.*', 'observe.targeted', 'observe/targeted', '!b'),
  fc.constantFrom('chat', 'chat*', 'chat.cancel', 'mcp.*'),
  kindValue,
)
const kindPattern: fc.Arbitrary<Pattern> = fc.oneof(
  kindText,
  fc.array(kindText, { minLength: 1, maxLength: 3 }),
)

const key = fc.constantFrom('a', 'b', 'c')
const single = fc.constantFrom(0, 1, true, false, null)

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'json' },
    value,
    single,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(key, tie('json'), { maxKeys: 3 }),
  ),
}))

/** Patterns for JSON values. `deep`: within a `**` key, where another `**` key is not allowed. */
const payloadPattern = (depth: number, deep: boolean): fc.Arbitrary<PayloadPattern> => {
  if (depth === 0) return fc.oneof(text, single)
  const inner = payloadPattern(depth - 1, deep)
  const object = fc
    .tuple(
      fc.dictionary(key, inner, { maxKeys: 3 }),
      deep ? fc.constant(undefined) : fc.option(payloadPattern(depth - 1, true), { nil: undefined, freq: 2 }),
    )
    .map(([fields, inside]) => (inside === undefined ? fields : { ...fields, '**': inside }))
  const item = fc.oneof(text, single, object)
  return fc.oneof(text, single, object, object, fc.array(item, { minLength: 1, maxLength: 3 }))
}

/** Texts for `tool`. Some are malformed, because the part before the first slash may end in a backslash. */
const toolText = fc
  .tuple(fc.oneof(fc.constantFrom('a', '*', '**', 'a*', '?'), glob), text)
  .map(([to, name]) => `${to.replace(/[\\/]/g, '')}/${name}`)
  .filter((tool) => !/^[!/]|\/$/.test(tool) && !isRegex(tool))
const tool = fc.record({ tool: toolText, arguments: payloadPattern(1, false) }, { requiredKeys: ['tool'] })

export const capability: fc.Arbitrary<Capability> = fc.oneof(
  { weight: 1, arbitrary: kindText },
  { weight: 1, arbitrary: tool },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        kind: kindPattern,
        to: pattern,
        context: fc.oneof(pattern, fc.constant('**')),
        payload: payloadPattern(2, false),
      },
      { requiredKeys: ['kind'] },
    ),
  },
)
export const capabilities = fc.array(capability, { minLength: 1, maxLength: 3 })

export const subject: fc.Arbitrary<Subject> = fc.record(
  { kind: kindValue, to: fc.array(value, { maxLength: 2 }), context: value, payload: json },
  { requiredKeys: ['kind', 'payload'] },
)

/** Values that a pattern is likely to match: fills in its wildcards, and takes one pattern of an array. */
function matchingText(pattern: Pattern): fc.Arbitrary<string> {
  if (typeof pattern !== 'string') return fc.oneof(...pattern.map(matchingText), value)
  if (pattern.startsWith('!') || isRegex(pattern)) return value
  const parts = pattern.match(/\\.|\*\*|./gsu) ?? []
  const filled = parts.map((part) => {
    if (part === '**') return value
    if (part === '*') return fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 3 })
    if (part === '?') return fc.constantFrom('a', 'b', '😀')
    return fc.constant(part.startsWith('\\') ? part.slice(1) : part)
  })
  return fc.tuple(...filled).map((texts) => texts.join(''))
}

function matchingJson(pattern: PayloadPattern): fc.Arbitrary<unknown> {
  if (typeof pattern === 'string') return matchingText(pattern)
  if (Array.isArray(pattern)) return fc.oneof(...pattern.map(matchingJson), json)
  if (typeof pattern !== 'object' || pattern === null) return fc.constant(pattern)
  const fields = Object.entries(pattern).map(([name, inner]) =>
    name === '**'
      ? fc.tuple(key, matchingJson(inner)).map(([at, found]) => ({ [at]: [found] }))
      : matchingJson(inner).map((found) => ({ [name]: found })),
  )
  return fc
    .tuple(fc.dictionary(key, json, { maxKeys: 2 }), ...fields)
    .map((parts) => Object.assign({}, ...parts))
}

export function matchingSubject(wanted: Capability): fc.Arbitrary<Subject> {
  return fc.oneof(...writtenOut(wanted).map(matchingWritten))
}

function matchingWritten({ kind, to, context, payload }: Written): fc.Arbitrary<Subject> {
  const text = (p: Pattern | undefined) =>
    p === undefined ? fc.option(value, { nil: undefined }) : matchingText(p)
  return fc.record({
    kind: fc.oneof(kindValue, matchingText(kind)),
    to: fc.oneof(
      fc.constant(undefined),
      text(to).map((id) => (id === undefined ? [] : [id])),
    ),
    context: fc.oneof(fc.constant(undefined), text(context)),
    payload: payload === undefined ? json : matchingJson(payload),
  })
}

/** Capabilities that are mostly narrower than the given one, and sometimes wider. */
export function variantOf(given: Capability): fc.Arbitrary<Capability> {
  const written = writtenOut(given).map(variantOfWritten)
  if (typeof given === 'string' || 'kind' in given) return fc.oneof(...written)
  const variants = fc.record(
    {
      tool: fc.oneof(
        fc.constant(given.tool),
        toolText,
        fc.constant(given.tool.includes('re:') ? given.tool : `${given.tool}*`),
      ),
      arguments: given.arguments === undefined ? payloadPattern(1, false) : variantOfJson(given.arguments),
    },
    { requiredKeys: ['tool'] },
  )
  return fc.oneof(...written, variants.map(defined))
}

function variantOfWritten(full: Written): fc.Arbitrary<Capability> {
  return fc
    .record({
      kind: fc.oneof(fc.constant(full.kind), matchingText(full.kind), kindPattern),
      to: variantOfText(full.to),
      context: variantOfText(full.context),
      payload:
        full.payload === undefined
          ? fc.option(payloadPattern(2, false), { nil: undefined })
          : variantOfJson(full.payload),
    })
    .map(defined)
}

const defined = (record: object): Capability =>
  Object.fromEntries(Object.entries(record).filter(([, v]) => v !== undefined)) as Capability

const variantOfText = (given: Pattern | undefined): fc.Arbitrary<Pattern | undefined> =>
  given === undefined
    ? fc.option(pattern, { nil: undefined })
    : fc.oneof(
        { weight: 3, arbitrary: fc.constant(given) },
        matchingText(given).filter((found) => !isRegex(found)),
        fc.constant<Pattern>(
          typeof given !== 'string' ? [...given, '!a'] : given.includes('re:') ? given : `${given}*`,
        ),
        fc.constant<Pattern>(typeof given === 'string' ? [given, '!a*'] : given.slice(0, 1)),
        fc.constant(widened(given)),
        pattern,
        fc.constant('**'),
        fc.constant(undefined),
      )

/** Widens one wildcard of a pattern: `covers` must notice that the given pattern does not cover the result. */
function widened(given: Pattern): Pattern {
  if (typeof given !== 'string') return given.map((text) => widened(text) as string)
  if (given.includes('re:')) return given
  return given.includes('?') ? given.replace('?', '*') : given.replace('*', '**')
}

function variantOfJson(given: PayloadPattern, deep = false): fc.Arbitrary<PayloadPattern | undefined> {
  if (typeof given === 'string') return variantOfText(given)
  if (Array.isArray(given) || typeof given !== 'object' || given === null) {
    return fc.oneof(fc.constant(given), payloadPattern(1, true))
  }
  const fields = Object.entries(given).map(([name, inner]) =>
    variantOfJson(inner, deep || name === '**').map((found) =>
      found === undefined ? {} : { [name]: found },
    ),
  )
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(fc.dictionary(key, payloadPattern(1, true), { maxKeys: 1 }), ...fields)
        .map((p) => Object.assign({}, ...p)),
    },
    { weight: 1, arbitrary: payloadPattern(2, deep) },
  )
}

function isRegex(text: string): boolean {
  return text.startsWith('re:') || (text.startsWith('/') && text.endsWith('$/'))
}
