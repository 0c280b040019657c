export type { AnyEnvelope, EnvelopeOf } from './any-envelope.js'
export { isKind } from './any-envelope.js'
export { canonicalJson } from './canonical.js'
export {
  type Capabilities,
  Capability,
  Coverage,
  compileCapabilities,
  compilePattern,
  covers,
  type Decision,
  holdsLiteral,
  Pattern,
  PatternError,
  PayloadPattern,
  patternLimits,
  type Subject,
} from './capability/index.js'
export {
  answerFor,
  contextDepth,
  contextParent,
  contextRoot,
  isContextAncestor,
  joinContext,
  openedContext,
  ownerOf,
  parseContext,
} from './context.js'
export {
  correlations,
  Envelope,
  EnvelopeId,
  GATEWAY,
  isEnvelopeId,
  ParticipantId,
  PROTOCOL,
  SpaceName,
  SUBPROTOCOL,
  Submission,
  Timestamp,
} from './envelope.js'
export type { ErrorCode } from './errors.js'
export { closeCodes, errorCodes, errors, ProtocolError } from './errors.js'
export type { GuardedParts, GuardFinding, TextGuard, Utterance } from './guard/guard-envelope.js'
export { FALLBACK_RATIONALE, guardEnvelope, isGuarded } from './guard/guard-envelope.js'
export { mapStrings } from './guard/map-strings.js'
export { RecentlySaid, type TailOf } from './guard/recently-said.js'
export type { JsonObject, Member } from './json.js'
export { memberOf, readElements, readObject } from './json.js'
export type { JsonSchema } from './json-schemas.js'
export { jsonSchemas, plainSchema, schemaDocument } from './json-schemas.js'
export type { KindRule, Payloads } from './kind-rules.js'
export { kindRules, ruleOf } from './kind-rules.js'
export {
  coreReasoningKinds,
  isKnownKind,
  Kind,
  namespaceOf,
  READ_TARGETED,
  reservedNamespaces,
} from './kinds.js'
export type { Limits, Rate, RateClass } from './limits.js'
export { defaultLimits, defaultRates, maxNesting, maxPost, rateClasses } from './limits.js'
export type { Normalised } from './normalise.js'
export { normalise } from './normalise.js'
export {
  GrantAckPayload,
  GrantPayload,
  InviteAckPayload,
  InvitePayload,
  KickPayload,
  PausePayload,
  RevokePayload,
} from './payloads/control.js'
export {
  ChatPayload,
  McpProposalPayload,
  McpRequestPayload,
  McpResponsePayload,
  MessagePayload,
  Phase,
  ReasoningConclusionPayload,
  ReasoningStartPayload,
  ReasoningThoughtPayload,
  SubscribePayload,
} from './payloads/conversation.js'
export {
  ContextInfo,
  DecisionPayload,
  ErrorPayload,
  ParticipantInfo,
  PresencePayload,
  ResumeInfo,
  WelcomePayload,
} from './payloads/system.js'
export type { Problem } from './validate.js'
export { checkEnvelope, checkPayload, checkSubmission } from './validate.js'
