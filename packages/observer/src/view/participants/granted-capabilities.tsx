import { type LoggedGrant, type GrantedCapabilities as ParticipantRights, printable } from '@meup/folds'
import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { capabilityText, clockText } from '../../model/index.js'
import { Problem, Said } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

/** So many capabilities are listed at first. */
const maxListed = 20

/** What somebody may do, by whom it has it, and what takes it back. */
export function GrantedCapabilities({
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
        <code key={at} class="capability" dir="ltr">
          {capabilityText(capability)}
        </code>
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
        text={`granted by ${grantor}, ${clockText(ts)}${expiresAt ? `, until ${untilText(expiresAt)}` : ''}`}
      />
      {seq !== undefined && (
        <button type="button" class="link" onClick={() => inspect(id)}>
          #{seq}
        </button>
      )}
      <Capabilities list={capabilities} />
      {reason !== undefined && <Said kind="rationale" text={printable(reason)} />}
      {mayRevoke && (
        <button
          type="button"
          class="bad"
          disabled={!isLive}
          aria-label={`Take back from ${recipient}: ${capabilities.map(capabilityText).join(', ')}`}
          onClick={() => {
            setRequestError(undefined)
            session.client?.send({ kind: Kind.capabilityRevoke, payload }).catch(setRequestError)
          }}
        >
          Take back
        </button>
      )}
      <Problem error={requestError} />
    </li>
  )
}

/** Local date and time. */
const untilText = (ts: string): string =>
  new Date(ts).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' })
