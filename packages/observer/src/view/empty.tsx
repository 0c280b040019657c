import type { VNode } from 'preact'
import type { Session } from '../connect/session.js'

/** What there is to do where there is nothing to see. */
export function Empty({ session }: { session: Session }): VNode {
  if (session.stage.at === 'connecting') return <p class="empty dim">Connecting to {session.place.space}…</p>
  return (
    <div class="empty">
      <h2>Nothing has happened here yet</h2>
      <p>Say something below, or join from a terminal, in the folder of the space:</p>
      <pre>meup join</pre>
      <p class="dim">Whatever is said, thought and done in {session.place.space} shows here as it happens.</p>
    </div>
  )
}
