import { formatCapability, isObject, onOneLine } from '@meup/folds'
import { type DecisionPayload, type Envelope, isCompilable, type Subject } from '@meup/protocol'
import type { VNode } from 'preact'
import { AllowButton } from '../participants/allow-button.js'
import { useCapabilityHelp } from '../participants/use-capability-help.js'
import { useGranted } from '../participants/use-granted.js'
import { useSpace } from '../shared/use-space.js'

/** Compares the capability that a refused envelope lacked with those that its sender holds now. */
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
  // `lacking` is `undefined` if the call would be allowed by now. The logged capability is preferred, since it names the
  // callee.
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

/**
 * Reconstructs the refused envelope. A decision does not contain the callee, which is known only if a single participant has
 * the tool.
 */
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
