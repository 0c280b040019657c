import { unansweredText } from '@meup/folds'
import type { VNode } from 'preact'
import { useNow } from '../shared/hooks.js'
import { useSpace } from '../shared/use-space.js'

/** Lines above the box: who is typing, and which messages of this reader wait. */
export const BoxStatus = (): VNode => (
  <>
    <Typing />
    <WaitingMessages />
  </>
)

/** Names other participants that are typing. */
function Typing(): VNode | null {
  const { session } = useSpace()
  const { typists } = session.present
  const now = useNow(typists.list(Date.now()).length > 0)
  const ids = typists.list(Math.max(now, Date.now()))
  const [first, second] = ids
  if (first === undefined || session.time.isPast) return null
  const text =
    second === undefined
      ? `${first} is writing…`
      : ids.length === 2
        ? `${first} and ${second} are writing…`
        : `${ids.length} are writing…`
  return <p class="typing dim">{text}</p>
}

/** This reader's messages that wait for agents at work, or the latest one that no program will answer any more. */
function WaitingMessages(): VNode | null {
  const { session } = useSpace()
  const { model, welcome, time } = session
  const lost = time.isPast ? undefined : model.getLost(welcome?.you.id ?? '')
  if (lost !== undefined)
    return (
      <p class="typing dim" role="status">
        {unansweredText(lost.agent)}
      </p>
    )
  const own = time.isPast ? [] : model.waiting().filter(({ from }) => from === welcome?.you.id)
  if (own.length === 0) return null
  const agents = [...new Set(own.map(({ agent }) => agent))]
  const count = new Set(own.map(({ id }) => id)).size
  return (
    <p class="typing dim" role="status">
      {agents.join(', ')} {agents.length === 1 ? 'is' : 'are'} at work;{' '}
      {count === 1 ? 'your message waits' : `${count} of your messages wait`}
    </p>
  )
}
