import {
  checkPayload,
  type Envelope,
  getKindRule,
  Kind,
  namespaceOf,
  openedContext,
  parseContext,
  reservedNamespaces,
} from '@meup/protocol'
import type { Admission, AdmissionContext, Outcome, Refusal } from './context.js'

/** Fields and payload by kind: `reserved_kind`, `unknown_kind`, `invalid_context`, `invalid_payload`, `participant_not_found`. */
export function validate({ envelope }: AdmissionContext, space: Admission): Outcome {
  return (
    checkKind(envelope) ??
    checkFields(envelope) ??
    checkContext(envelope, space) ??
    checkAddressees(envelope, space) ??
    checkBody(envelope)
  )
}

function checkKind({ kind }: Envelope): Refusal | undefined {
  const namespace = namespaceOf(kind)
  if (namespace === 'system' || getKindRule(kind)?.gateway) {
    return { code: 'reserved_kind', path: '/kind', message: `${kind} is sent by the gateway alone` }
  }
  if (getKindRule(kind) !== undefined || !reservedNamespaces.has(namespace)) return undefined
  const message = `${namespace} is a reserved namespace without ${kind}. Use a namespace of your own.`
  return { code: 'unknown_kind', path: '/kind', message }
}

const ofToolCalls = ['rationale', 'parallelGroup'] as const
const ofNoDelta = [...ofToolCalls, 'context'] as const

function checkFields(envelope: Envelope): Refusal | undefined {
  const { kind } = envelope
  const rule = getKindRule(kind)
  for (const field of rule?.requires ?? []) {
    if (envelope[field] !== undefined) continue
    const code = field === 'context' ? 'invalid_context' : 'invalid_envelope'
    return { code, path: `/${field}`, message: `${kind} needs ${field}` }
  }
  for (const field of rule?.live ? ofNoDelta : rule?.toolCall ? [] : ofToolCalls) {
    if (envelope[field] === undefined) continue
    return { code: 'invalid_envelope', path: `/${field}`, message: `${kind} has no ${field}. Leave it out.` }
  }
  if (rule?.live && typeof envelope.correlationId !== 'string') {
    const message = `${kind} is about one envelope. Send another for each.`
    return { code: 'invalid_envelope', path: '/correlationId', message }
  }
  return undefined
}

function checkContext(envelope: Envelope, { config, state }: Admission): Refusal | undefined {
  const { context, kind } = envelope
  if (context === undefined) return undefined
  const nests = kind === Kind.reasoningStart && state.contexts.get(context)?.state === 'open'
  const path = nests ? openedContext({ id: envelope.id, context }) : context
  if (parseContext(path, config.limits) !== undefined) return undefined
  const { contextDepth, contextLength } = config.limits
  const message = `use at most ${contextDepth} segments of A-Z a-z 0-9 _ - and ${contextLength} characters`
  return { code: 'invalid_context', path: '/context', message: `${path} is not a legal context. ${message}.` }
}

function checkAddressees({ to }: Envelope, { state }: Admission): Refusal | undefined {
  const stranger = to?.findIndex((id) => !state.participants.has(id)) ?? -1
  if (to === undefined || stranger === -1) return undefined
  const message = `There is no participant ${to[stranger]} in this space.`
  return { code: 'participant_not_found', path: `/to/${stranger}`, message }
}

function checkBody({ kind, payload }: Envelope): Refusal | undefined {
  const problem = checkPayload(kind, payload)
  return (
    problem && { code: 'invalid_payload', path: problem.path, message: `${problem.path} ${problem.message}` }
  )
}
