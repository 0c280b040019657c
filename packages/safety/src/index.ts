export { SafetyError } from './error.js'
export { builtInRules } from './generated/rules.js'
export type { Finding, Guarded } from './guarded.js'
export { compileSafety, type Safety, type SafetyOptions } from './safety.js'
export {
  defaultSafety,
  type LeakAction,
  type PolicyRule,
  type SafetySettings,
  type SecretRule,
} from './settings.js'
export { tailOf } from './tail.js'
export { warmUp } from './warm-up.js'
