export type { AnyEnvelope, EnvelopeOf } from './any-envelope.js'
export { isKind } from './any-envelope.js'
export { canonicalJson } from './canonical.js'
export {
  type Capabilities,
  Capability,
  Coverage,
  checkMetered,
  checkWithin,
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
export { ExportChain, type ExportVerdict, type KnownHead, type Sha256 } from './chain/export-chain.js'
export { type ExportRecord, exportLine, readExportLine } from './chain/export-lines.js'
export { linesOf } from './chain/lines.js'
export { readExport, verifyExport } from './chain/verify-export.js'
export {
  contextDepth,
  contextParent,
  contextRoot,
  isContextAncestor,
  joinContext,
  openedContext,
  parseContext,
} from './context.js'
export { type Detail, isShown } from './detail.js'
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
export { EnvelopeGuard, type GuardedParts } from './guard/envelope-guard.js'
export { mapStrings } from './guard/map-strings.js'
export { RecentlySaid, type TailOf } from './guard/recently-said.js'
export type {
  GuardedText,
  GuardFinding,
  GuardMaker,
  GuardSettings,
  TextGuard,
} from './guard/text-guard.js'
export { isGuarded, isToolCall, type Utterance } from './guard/uttered-texts.js'
export type { JsonObject, Member } from './json.js'
export { isDeeper, memberOf, prescan, readElements, readObject } from './json.js'
export type { JsonSchema } from './json-schemas.js'
export { jsonSchemas, plainSchema, schemaDocument } from './json-schemas.js'
export type { KindRule, Payloads } from './kind-rules.js'
export { kindRules, ruleOf } from './kind-rules.js'
export {
  coreReasoningKinds,
  isKnownKind,
  isThought,
  Kind,
  namespaceOf,
  READ_TARGETED,
  reservedNamespaces,
} from './kinds.js'
export type { Limits, Rate, RateClass } from './limits.js'
export {
  anyContext,
  defaultLimits,
  defaultRates,
  givenText,
  maxCorrelations,
  maxNesting,
  maxPost,
  openContexts,
  rateClasses,
  standingGrants,
} from './limits.js'
export type { Normalised } from './normalise.js'
export { normalise } from './normalise.js'
export { GUEST, imitatedBy, imitationsIn } from './participant-name.js'
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
  VisibilityPayload,
} from './payloads/conversation.js'
export {
  ContextInfo,
  DecisionPayload,
  ErrorPayload,
  ParticipantDetails,
  ParticipantInfo,
  PresencePayload,
  ProposalInfo,
  ResumeInfo,
  WelcomePayload,
} from './payloads/system.js'
export { answerFor, ownerOf } from './runs.js'
export type { Problem } from './validate.js'
export { checkEnvelope, checkPayload, checkSubmission } from './validate.js'
export { type Hiding, hiddenByAfter, withholds } from './visibility.js'
export { WorkError, WorkMeter } from './work.js'
