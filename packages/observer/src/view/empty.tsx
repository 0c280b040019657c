import { type Capability, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import type { PageSession } from '../connect/session.js'
import type { LogRow, RowList } from '../model/index.js'
import { Avatar, Name } from './shared/parts.js'
import { useSpace } from './shared/use-space.js'

/** Whether there are only a few events, and no messages or reasoning. Requests for tool lists are ignored. */
export function isQuiet(list: RowList): boolean {
  const isEvent = (row: LogRow): boolean =>
    row.type === 'batch'
      ? row.calls.every(isEvent)
      : row.type === 'call'
        ? row.envelope.payload.method !== 'tools/call'
        : row.type === 'said' && row.tone === 'event'
  return list.slots.length < 20 && list.slots.every((slot) => isEvent(list.getRow(slot)))
}

/** Suggestions for an empty view. */
export function Empty({ session }: { session: PageSession }): VNode {
  const { stage, place } = session
  if (stage.at === 'connecting') {
    return (
      <p class="empty dim" role="status">
        Connecting to {place.space}…
      </p>
    )
  }
  if (stage.at === 'ended') {
    return (
      <div class="empty">
        <h2>The space cannot be reached</h2>
        <p>
          Look whether the gateway runs, and whether this machine reaches it. What you have written is kept.
        </p>
        <button type="button" class="primary" onClick={() => void session.reconnect()}>
          Try again
        </button>
      </div>
    )
  }
  return (
    <div class="empty">
      <h2>Nothing has happened here yet</h2>
      <Suggestions />
      <p class="dim">Or write below. From a terminal, in the folder of the space:</p>
      <pre>meup join</pre>
    </div>
  )
}

/** Maximum agents with suggested questions. */
const maxSuggestions = 4

/** Suggested first questions for the present agents; a click asks. */
function Suggestions(): VNode {
  const { session, isLive, can } = useSpace()
  const { model, welcome } = session
  const agents = model.members
    .infos(Date.now())
    .filter(({ id, status }) => status === 'present' && id !== welcome?.you.id)
    .filter(({ capabilities }) => capabilities.some(isToReason))
    .slice(0, maxSuggestions)
  const ask = (id: string): void => session.outbox.send({ message: question, mention: [id] })
  const mayAsk = isLive && can({ kind: Kind.chat, payload: { message: question } })
  if (agents.length === 0) return <p>No agent is here yet: what is said is kept for when one comes.</p>
  return (
    <ul class="suggestions">
      {agents.map(({ id }) => (
        <li key={id}>
          <button type="button" disabled={!mayAsk} onClick={() => ask(id)}>
            <Avatar id={id} kind="small" />
            <span>
              Ask <Name id={id} />: {question}
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

const question = 'What can you do?'

/** Whether a capability allows reasoning, which agents have: programs that only answer calls cannot be asked. */
function isToReason(capability: Capability): boolean {
  const kind = typeof capability === 'string' ? capability : 'kind' in capability ? capability.kind : ''
  return [kind].flat().some((each) => each === 'reasoning.*' || each === Kind.reasoningStart)
}

/** Shown if the reader's filter hides everything. */
export const NothingPasses = ({ widen }: { widen: () => void }): VNode => (
  <div class="empty">
    <h2>Nothing of it matches your filter</h2>
    <p>What comes and matches shows here.</p>
    <button type="button" class="primary" onClick={widen}>
      Show everything
    </button>
  </div>
)
