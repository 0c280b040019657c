import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { readCapabilities } from '../../model/index.js'
import { Problem } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

/** How long a grant lasts, in minutes. */
const terms = [
  ['', 'until it is taken back'],
  ['15', 'for 15 minutes'],
  ['60', 'for an hour'],
  ['480', 'for 8 hours'],
  ['10080', 'for a week'],
] as const

/** Gives somebody what this reader holds, where that is permitted. */
export function GrantForm({ recipient }: { recipient: string }): VNode | null {
  const { session, isLive, can } = useSpace()
  const [text, setText] = useState('')
  const [minutes, setMinutes] = useState('60')
  const [reason, setReason] = useState('')
  const [requestError, setRequestError] = useState<unknown>()
  const mayGrant =
    recipient !== session.welcome?.you.id && can({ kind: Kind.capabilityGrant, payload: { recipient } })
  if (!mayGrant)
    return (
      <p class="dim">
        You may give {recipient} nothing: that takes a capability for {Kind.capabilityGrant}.
      </p>
    )
  const give = async (): Promise<void> => {
    const now = session.model.gatewayTime(Date.now())
    const expiresAt = minutes === '' ? undefined : new Date(now + Number(minutes) * 60_000).toISOString()
    const why = reason.trim()
    const payload = {
      recipient,
      capabilities: readCapabilities(text),
      ...(expiresAt !== undefined && { expiresAt }),
      ...(why !== '' && { reason: why }),
    }
    await session.client?.send({ kind: Kind.capabilityGrant, payload })
    setText('')
    setReason('')
  }
  return (
    <form
      class="grant"
      aria-label={`Give ${recipient} capabilities`}
      onSubmit={(event) => {
        event.preventDefault()
        setRequestError(undefined)
        give().catch(setRequestError)
      }}
    >
      <h3>Give more</h3>
      <label>
        Capabilities, one a line
        <textarea
          name="capabilities"
          rows={2}
          dir="ltr"
          spellcheck={false}
          required
          placeholder={'chat\n{"kind":"mcp.request","to":"files"}'}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <label>
        For how long
        <select name="term" value={minutes} onChange={(event) => setMinutes(event.currentTarget.value)}>
          {terms.map(([value, meaning]) => (
            <option key={value} value={value}>
              {meaning}
            </option>
          ))}
        </select>
      </label>
      <label>
        Why, for everyone to read
        <input
          name="reason"
          maxLength={1000}
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="primary" disabled={!isLive || text.trim() === ''}>
        Give
      </button>
      <Problem error={requestError} />
    </form>
  )
}
