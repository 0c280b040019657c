import { getAlwaysCapability, type ProposedRequest } from '@meup/agent-sdk/watch'
import type { ProposalView, Risk } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Sentence } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { AlwaysForm } from './always-form.js'
import { isDecidable } from './is-decidable.js'

/** Time for which a new card or step ignores decisions, so that the second click of a double click does not hit it. */
const settleMs = 400

function useSettled(step: string): boolean {
  const [settled, setSettled] = useState<string | undefined>()
  useEffect(() => {
    const timer = setTimeout(() => setSettled(step), settleMs)
    return () => clearTimeout(timer)
  }, [step])
  return settled === step
}

interface DecisionProps {
  readonly proposal: ProposalView
  readonly envelope: Envelope
  /** Why the proposal cannot be approved yet, because parts were not shown; `undefined` if it can. */
  readonly unseen: string | undefined
  readonly risk: Risk
}

/** Buttons to approve, reject with a reason, or allow similar calls from now on. */
export function DecisionPanel({ proposal, envelope, unseen, risk }: DecisionProps): VNode {
  const isSeen = unseen === undefined
  const { session, isLive, can, act } = useSpace()
  const [step, setStep] = useState<'choose' | 'confirm' | 'reject' | 'always'>('choose')
  const [reason, setReason] = useState('')
  const [isDeciding, setDeciding] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [step])
  const isSettled = useSettled(step)
  const { id, source, tool } = proposal
  const open = session.client?.proposals.get(id)
  if (!isDecidable(proposal, session, can))
    return <p class="dim">Another participant decides: your capabilities do not cover it.</p>
  const mayReject = can({ kind: Kind.mcpReject, to: [source.from], correlationId: id })
  const { to } = envelope
  const mayGrant =
    getAlwaysCapability({ ...(envelope.payload as unknown as ProposedRequest), to }) !== undefined &&
    can({ kind: Kind.capabilityGrant, payload: { recipient: source.from } })
  const isClosed = !isLive || isDeciding || session.held.has(id)
  const mayApprove = !isClosed && isSeen && isSettled
  const decide = (work: () => Promise<unknown> | undefined): void => {
    setDeciding(true)
    act('It was not decided', () => Promise.resolve(work()).finally(() => setDeciding(false)))
  }
  if (step === 'always' && open !== undefined && isSeen)
    return <AlwaysForm proposal={open} tool={tool} back={() => setStep('choose')} />
  if (step === 'reject') {
    const reject = (): void => {
      const message = reason.trim()
      const why = { reason: 'declined', ...(message !== '' && { message }) }
      decide(() => session.client?.proposals.reject(id, why))
    }
    return (
      <form
        class="decision"
        onSubmit={(event) => {
          event.preventDefault()
          reject()
        }}
      >
        <input
          aria-label="Why not"
          placeholder="Why not? (for everyone to read)"
          maxLength={1000}
          value={reason}
          ref={field}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <button type="submit" class="bad" disabled={isClosed}>
          Reject
        </button>
        <button type="button" onClick={() => setStep('choose')}>
          Back
        </button>
      </form>
    )
  }
  const approve = (): void => decide(() => session.client?.proposals.approve(id))
  if (step === 'confirm')
    return (
      <div class="decision">
        <span role="status">
          <Sentence text={risk.reason} />
        </span>
        <button type="button" class="bad" disabled={!mayApprove} onClick={approve}>
          Yes, approve it
        </button>
        <button type="button" onClick={() => setStep('choose')}>
          Back
        </button>
      </div>
    )
  return (
    <div class="decision">
      {risk.level === 'destructive' ? (
        <button
          type="button"
          disabled={!mayApprove}
          title={unseen ?? risk.reason}
          onClick={() => setStep('confirm')}
        >
          Approve anyway…
        </button>
      ) : (
        <button
          type="button"
          class="primary"
          data-key-press="y"
          disabled={!mayApprove}
          title={unseen ?? ''}
          onClick={approve}
        >
          Approve <kbd>y</kbd>
        </button>
      )}
      {mayReject && (
        <button type="button" data-key-press="n" disabled={isClosed} onClick={() => setStep('reject')}>
          Reject… <kbd>n</kbd>
        </button>
      )}
      {mayGrant && (
        <button
          type="button"
          disabled={isClosed || !isSeen}
          title={unseen ?? ''}
          onClick={() => setStep('always')}
        >
          Always allow…
        </button>
      )}
      {!isSeen && (
        <span class="dim" role="status">
          {unseen}
        </span>
      )}
    </div>
  )
}
