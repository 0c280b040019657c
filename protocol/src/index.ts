export { isCompilable, makeCompilable } from '#engine'
export {
  type Capabilities,
  compileCapabilities,
  compilePattern,
  type Decision,
  holdsLiteral,
  matchesKind,
} from './capability/compile.js'
export type { Subject } from './capability/conditions.js'
export { Coverage, covers } from './capability/covers.js'
export { PatternError } from './capability/errors.js'
export { escapePattern } from './capability/glob.js'
export { patternLimits } from './capability/parse.js'
export * from './capability/schema.js'
export { resolveSelf, SELF } from './capability/self.js'
export * from './context.js'
export * from './envelope.js'
export * from './erasure.js'
export { addAdvice, type Details, type DetailsOf, type ErrorsOf, errorsOf, fillIn } from './error-texts.js'
export * from './errors.js'
export { copyNumberTexts, getNumberText, parseExact, stringifyExact } from './exact-json.js'
export * from './export-chain.js'
export { freshId } from './fresh-id.js'
export { isOwnName, isTrustedHost, readHostName } from './host-names.js'
export {
  canonicalJson,
  getMember,
  isDeeper,
  type JsonObject,
  type Member,
  prescan,
  readElements,
  readObject,
} from './json.js'
export * from './kinds.js'
export * from './limits.js'
export {
  BYE,
  GATEWAY,
  GUEST,
  imitatedBy,
  imitationsIn,
  isEnvelopeId,
  PROTOCOL,
  SUBPROTOCOL,
} from './names.js'
export { type Defined, omitUndefined } from './omit-undefined.js'
export * from './payload-schemas.js'
export * from './payloads.js'
export * from './runs.js'
export * from './safety/envelope-safety.js'
export { mapStrings } from './safety/map-strings.js'
export { RecentlySaid, type Tail, type TailOf, type Utterance } from './safety/speech.js'
export * from './validate.js'
export * from './visibility.js'
export { checkMetered, StepBudget, WorkError, WorkMeter } from './work.js'
