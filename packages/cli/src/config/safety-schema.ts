import type { SafetySettings } from '@meup/safety'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { safetyProblems } from './safety-problems.js'
import { atLeast, checked, list, map, oneOf, word } from './schema-parts.js'

const name = Type.String({
  pattern: '^[a-z0-9-]{1,64}$',
  description: 'a name: up to 64 lower-case letters, digits and -',
})
const rule = map({
  name,
  pattern: word,
  keywords: Type.Optional(list(word)),
  action: Type.Optional(oneOf('mask', 'block')),
})
const policy = map({ name, pattern: word, action: oneOf('allow', 'sanitize', 'review', 'block') })

const shape = map({
  onLeak: Type.Optional(oneOf('mask', 'block')),
  maxLength: Type.Optional(atLeast(1)),
  policy: Type.Optional(list(policy)),
  rules: Type.Optional(list(rule)),
})
export type FileSafety = Static<typeof shape>

/** Rules can only be tried where they have the right shape. */
const usable = checked('meup.safety', (value) =>
  Value.Check(shape, value) ? safetyProblems(toRules(value)) : [],
)
export const safety = Type.Intersect([shape, usable])

/** With what a file may leave out. */
export const toRules = ({
  rules = [],
  policy = [],
}: FileSafety): Pick<SafetySettings, 'rules' | 'policy'> => ({
  rules: rules.map((each) => ({ action: 'mask', ...each })),
  policy,
})
