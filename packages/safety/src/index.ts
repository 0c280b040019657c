export { builtInRules } from './leak/generated/rules.js'
export * from './safety.js'
export * from './settings.js'
export { tailOf } from './tail.js'
