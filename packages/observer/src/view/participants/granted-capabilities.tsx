import {
  capabilitySentence,
  capabilityText,
  type LoggedGrant,
  type GrantedCapabilities as ParticipantRights,
  printable,
} from '@meup/folds'
import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { clockText, dateText, expiry, readCapabilities } from '../../model/index.js'
import { ErrorText } from '../shared/error-text.js'
import { UntrustedText } from '../shared/parts.js'
import { Term } from '../shared/select.js'
import { useSpace } from '../shared/use-space.js'
import { useCapabilityHelp } from './use-capability-help.js'

/** Maximum number of capabilities listed at first. */
const maxListed = 20

/** A participant's capabilities, their grantors, and buttons to revoke grants. */
export function GrantedList({
  granted: { configured, grants, others },
}: {
  granted: ParticipantRights
}): VNode {
  const isEmpty = configured.length + grants.length + others.length === 0
  return (
    <ul class="granted-capabilities">
      {isEmpty && <li class="dim">nothing but to answer</li>}
      {configured.length > 0 && (
        <li>
          <Source text="configured" />
          <Capabilities list={configured} />
        </li>
      )}
      {grants.map((grant) => (
        <Granted key={grant.id} grant={grant} />
      ))}
      {others.length > 0 && (
        <li>
          <Source text="from elsewhere" />
          <Capabilities list={others} />
        </li>
      )}
    </ul>
  )
}

const Source = ({ text }: { text: string }): VNode => <span class="source dim">{text}</span>

function Capabilities({ list }: { list: ParticipantRights['configured'] }): VNode {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? list : list.slice(0, maxListed)
  return (
    <span class="capabilities">
      {shown.map((capability, at) => (
        <span key={at} class="capability" title={capabilityText(capability)}>
          {capabilitySentence(capability)}
        </span>
      ))}
      {list.length > shown.length && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          and {list.length - shown.length} more
        </button>
      )}
    </span>
  )
}

function Granted({ grant }: { grant: LoggedGrant }): VNode {
  const { session, isLive, can, inspect } = useSpace()
  const { id, grantor, recipient, capabilities, expiresAt, reason, ts } = grant
  const [requestError, setRequestError] = useState<unknown>()
  const payload = { recipient, grantId: id }
  const mayRevoke = grantor === session.welcome?.you.id || can({ kind: Kind.capabilityRevoke, payload })
  const seq = session.model.log.get(id)?.seq
  return (
    <li>
      <Source
        text={`granted by ${grantor}, ${clockText(ts)}${expiresAt ? `, until ${dateText(expiresAt)}` : ''}`}
      />
      {seq !== undefined && (
        <button type="button" class="link" onClick={() => inspect(id)}>
          #{seq}
        </button>
      )}
      <Capabilities list={capabilities} />
      {reason !== undefined && <UntrustedText kind="rationale" text={printable(reason)} />}
      {mayRevoke && (
        <button
          type="button"
          class="bad"
          disabled={!isLive}
          aria-label={`Revoke from ${recipient}: ${capabilities.map(capabilityText).join(', ')}`}
          onClick={() => {
            setRequestError(undefined)
            session.client?.send({ kind: Kind.capabilityRevoke, payload }).catch(setRequestError)
          }}
        >
          Revoke
        </button>
      )}
      <ErrorText error={requestError} />
    </li>
  )
}

/**
 * Warnings about misspelt or unexpectedly broad capabilities. `confirm()` returns `false` the first time, so that they are read
 * before the form is submitted.
 */
export function useWarnings(text: string) {
  const { session } = useSpace()
  const people = session.model.people.map(({ id }) => id)
  const warnings = useCapabilityHelp()?.findWarnings(text, people) ?? []
  const [shown, show] = useState('')
  const isConfirmed = warnings.length === 0 || shown === warnings.join()
  return {
    warnings,
    /** Whether submitting now ignores warnings that were shown. */
    isInSpite: isConfirmed && warnings.length > 0,
    confirm(): boolean {
      show(warnings.join())
      return isConfirmed
    },
  }
}

export function CapabilityWarnings({ warnings }: { warnings: readonly string[] }): VNode {
  return (
    <>
      {warnings.map((warning) => (
        <p key={warning} class="warn" role="status">
          ⚠ {warning}
        </p>
      ))}
    </>
  )
}

const scrollToForm = (form: HTMLFormElement | null): void => form?.scrollIntoView({ block: 'nearest' })

/** Form to grant capabilities to a participant; `null` if the reader may not. */
export function GrantForm({ recipient, initial }: { recipient: string; initial: string }): VNode | null {
  const { session, isLive, can } = useSpace()
  const [text, setText] = useState(initial)
  const [minutes, setMinutes] = useState('60')
  const [reason, setReason] = useState('')
  const [requestError, setRequestError] = useState<unknown>()
  const { warnings, isInSpite, confirm } = useWarnings(text)
  const mayGrant =
    recipient !== session.welcome?.you.id && can({ kind: Kind.capabilityGrant, payload: { recipient } })
  if (!mayGrant)
    return (
      <p class="dim">
        You may grant {recipient} nothing: that takes a capability for {Kind.capabilityGrant}.
      </p>
    )
  const give = async (): Promise<void> => {
    const now = session.model.gatewayTime(Date.now())
    const why = reason.trim()
    const payload = {
      recipient,
      capabilities: readCapabilities(text),
      ...expiry(minutes, now),
      ...(why !== '' && { reason: why }),
    }
    await session.client?.send({ kind: Kind.capabilityGrant, payload })
    setText('')
    setReason('')
  }
  return (
    <form
      ref={initial === '' ? null : scrollToForm}
      class="grant"
      aria-label={`Grant ${recipient} capabilities`}
      onSubmit={(event) => {
        event.preventDefault()
        setRequestError(undefined)
        if (confirm()) give().catch(setRequestError)
      }}
    >
      <h3>Grant more</h3>
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
      <CapabilityWarnings warnings={warnings} />
      <Term minutes={minutes} set={setMinutes}>
        For how long
      </Term>
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
        {isInSpite ? 'Grant it anyway' : 'Grant'}
      </button>
      <ErrorText error={requestError} />
    </form>
  )
}
