import { formatCapability, isObject, onOneLine } from '@meup/folds'
import { type DecisionPayload, type Envelope, isCompilable, type Subject } from '@meup/protocol'
import type { VNode } from 'preact'
import { AllowButton } from '../participants/allow-button.js'
import { useCapabilityHelp } from '../participants/use-capability-help.js'
import { useGranted } from '../participants/use-granted.js'
import { useSpace } from '../shared/use-space.js'

/** The capability that a refused envelope lacked, compared with what its sender holds now. */
export function RefusalDetail({ decision }: { decision: Envelope }): VNode | null {
  const { session, showPanel } = useSpace()
  const payload = decision.payload as Partial<DecisionPayload>
  const [id = ''] = decision.to ?? []
  const granted = useGranted(id)
  const help = useCapabilityHelp()
  const isKnown = help !== undefined && granted !== undefined && isCompilable([granted])
  if (payload.reasonCode !== 'capability_violation' || !isKnown) return null
  const owner = session.model.tools.findOwner(payload.attemptedTool ?? '')
  const { sentences, missing: lacking } = help.explainCapability(granted, readAttempt(payload, owner))
  // It may have been allowed since; the logged capability names the callee.
  const missing = lacking && (payload.missing ?? lacking)
  return (
    <section aria-label="Which capability it lacks">
      <h3>As of now</h3>
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {missing !== undefined && (
        <p>
          <code>{onOneLine(formatCapability(missing))}</code> would allow it.{' '}
          <AllowButton id={id} missing={missing} />{' '}
          <button type="button" class="link" onClick={() => showPanel({ at: 'person', id })}>
            What {id} may do…
          </button>
        </p>
      )}
    </section>
  )
}

/** The refused envelope. Its callee is not logged, and is only known for tools that a single participant has. */
function readAttempt(
  { attemptedKind = '', attemptedTool, attemptedArguments }: Partial<DecisionPayload>,
  owner: string | undefined,
): Subject {
  if (attemptedTool === undefined) return { kind: attemptedKind, payload: {} }
  const params = {
    name: attemptedTool,
    ...(isObject(attemptedArguments) && { arguments: attemptedArguments }),
  }
  const to = owner === undefined ? {} : { to: [owner] }
  return { kind: attemptedKind, ...to, payload: { method: 'tools/call', params } }
}
