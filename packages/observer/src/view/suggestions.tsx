import { type Capability, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { Avatar, Name } from './shared/parts.js'
import { useSpace } from './shared/use-space.js'

/** Maximum number of agents with a suggested question. */
const maxSuggestions = 4

/** Suggests a first question to each present agent; a click asks it. */
export function Suggestions(): VNode {
  const { session, isLive, can } = useSpace()
  const { model, welcome } = session
  const agents = model.members
    .infos(Date.now())
    .filter(({ id, status }) => status === 'present' && id !== welcome?.you.id)
    .filter(({ capabilities }) => capabilities.some(isToReason))
    .slice(0, maxSuggestions)
  const ask = (id: string): void => session.outbox.send({ message: question, mention: [id] })
  const mayAsk = isLive && can({ kind: Kind.chat, payload: { message: question } })
  if (agents.length === 0) return <p>No agent is here yet: messages are kept until one comes.</p>
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

/** Whether a capability allows reasoning: its holder is an agent, not a tool that only answers calls. */
function isToReason(capability: Capability): boolean {
  const kind = typeof capability === 'string' ? capability : 'kind' in capability ? capability.kind : ''
  return [kind].flat().some((each) => each === 'reasoning.*' || each === Kind.reasoningStart)
}
