import type { VNode } from 'preact'
import type { PageSession } from '../connect/session.js'
import type { LogRow, RowList } from '../model/index.js'
import { lazy } from './shared/lazy.js'

const Suggestions = lazy(() => import('./suggestions.js').then(({ Suggestions }) => Suggestions))

/** Whether the space has only a few events, no messages and no reasoning. Ignores requests other than tool calls. */
export function isQuiet(list: RowList): boolean {
  const isEvent = (row: LogRow): boolean =>
    row.type === 'batch'
      ? row.calls.every(isEvent)
      : row.type === 'call'
        ? row.envelope.payload.method !== 'tools/call'
        : row.type === 'said' && row.tone === 'event'
  return list.slots.length < 20 && list.slots.every((slot) => isEvent(list.getRow(slot)))
}

/** Content of a view that is quiet: connection state, or suggestions. */
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
          Check that the gateway is running and that this machine can reach it. What you have written is kept.
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

/** Shown if the reader's filter excludes everything. */
export const NothingPasses = ({ widen }: { widen: () => void }): VNode => (
  <div class="empty">
    <h2>Nothing matches your filter</h2>
    <p>New events that match appear here.</p>
    <button type="button" class="primary" onClick={widen}>
      Show everything
    </button>
  </div>
)
