export {
  defaultSafety,
  type LeakAction,
  type PolicyRule,
  type SafetySettings,
  type SecretRule,
} from './settings.js'
