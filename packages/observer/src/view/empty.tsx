import type { VNode } from 'preact'
import type { Session } from '../connect/session.js'

/** What there is to do where there is nothing to see. */
export function Empty({ session }: { session: Session }): VNode {
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
        <button type="button" class="primary" onClick={() => void session.again()}>
          Try again
        </button>
      </div>
    )
  }
  return (
    <div class="empty">
      <h2>Nothing has happened here yet</h2>
      <p>Say something below, or join from a terminal, in the folder of the space:</p>
      <pre>meup join</pre>
      <p>From another machine, with a token of your own:</p>
      <pre>
        MEUP_TOKEN=… meup join --url {place.url} --space {place.space}
      </pre>
      <p class="dim">Whatever is said, thought and done in {place.space} shows here as it happens.</p>
    </div>
  )
}

/** Where a reader's own filter lets nothing through. */
export const NothingPasses = ({ widen }: { widen: () => void }): VNode => (
  <div class="empty">
    <h2>Nothing of it passes your filter</h2>
    <p>What comes and passes shows here.</p>
    <button type="button" class="primary" onClick={widen}>
      Show everything
    </button>
  </div>
)
