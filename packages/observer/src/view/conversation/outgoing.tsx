import type { VNode } from 'preact'
import type { Outgoing } from '../../connect/storage.js'
import { Avatar, Chip, Name, UntrustedText } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { Asked } from './asked.js'

/** The reader's messages that are not in the log yet, shown at the end of the conversation. */
export function OutgoingMessages(): VNode {
  const { session } = useSpace()
  const me = session.welcome?.you.id ?? ''
  return (
    <>
      {session.time.isPast ||
        session.outbox.list.map((each) => <Line key={each.id} me={me} outgoing={each} />)}
    </>
  )
}

function Line({ me, outgoing }: { me: string; outgoing: Outgoing }): VNode {
  const { session, isLive } = useSpace()
  const { id, message, to, mention, failure } = outgoing
  return (
    <article
      class="row outer said-aloud alone outgoing"
      aria-label={me}
      aria-busy={failure === undefined}
      aria-live="off"
    >
      <Avatar id={me} />
      <div class="content">
        <header class="byline">
          <Name id={me} />
          {failure === undefined && <span class="time">sending…</span>}
        </header>
        <div class="message-text">
          <Asked to={to} mentions={[mention ?? []].flat()} text={message} />
          <UntrustedText text={message} />
        </div>
        {failure !== undefined && (
          <p class="decision" role="alert">
            <Chip kind="warn">not sent: {failure}</Chip>
            <button type="button" disabled={!isLive} onClick={() => session.outbox.retry(id)}>
              Retry
            </button>
            <button type="button" onClick={() => session.outbox.discard(id)}>
              Discard
            </button>
          </p>
        )}
      </div>
    </article>
  )
}
