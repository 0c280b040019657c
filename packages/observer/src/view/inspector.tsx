import { printable } from '@meup/folds'
import { correlations, type Envelope } from '@meup/protocol'
import type { VNode } from 'preact'
import { ChainPlace } from './chain-place.js'
import { useDesk } from './desk.js'
import { Exact } from './heavy.js'
import { Name, Said } from './parts.js'

/** Everything about one envelope. */
export function Inspector({ envelope, close }: { envelope: Envelope; close: () => void }): VNode {
  const { session } = useDesk()
  const { seq, id, from, to, kind, ts, context, rationale } = envelope
  return (
    <aside class="inspector" aria-label="Envelope">
      <header>
        <h2>
          #{seq} <code>{kind}</code>
        </h2>
        <button type="button" aria-label="Close" title="Close (Escape)" onClick={close}>
          ✕
        </button>
      </header>
      <dl>
        <dt>from</dt>
        <dd>
          <Name id={from} />
        </dd>
        {to !== undefined && (
          <>
            <dt>to</dt>
            <dd>{to.join(', ')}</dd>
          </>
        )}
        <dt>at</dt>
        <dd>{ts}</dd>
        <dt>id</dt>
        <dd>
          <code>{id}</code>
        </dd>
        {context !== undefined && (
          <>
            <dt>context</dt>
            <dd>
              <code>{context}</code>
            </dd>
          </>
        )}
        <Links name="about" ids={correlations(envelope)} />
        <ChainPlace seq={seq} />
        <Links name="answered by" ids={session.model.log.answersTo(id)} />
      </dl>
      {rationale !== undefined && <Said kind="reason" text={printable(rationale)} />}
      <Exact envelope={envelope} />
    </aside>
  )
}

/** How many of them are listed. */
const most = 20

function Links({ name, ids }: { name: string; ids: readonly string[] }): VNode | null {
  const { session, look } = useDesk()
  if (ids.length === 0) return null
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {ids.slice(0, most).map((id) => {
          const known = session.model.log.get(id)
          if (known === undefined) return <code key={id}>{id} (not loaded)</code>
          return (
            <button type="button" class="link" key={id} onClick={() => look(id)}>
              #{known.seq} {known.kind}
            </button>
          )
        })}
        {ids.length > most && <span class="dim">and {ids.length - most} more</span>}
      </dd>
    </>
  )
}
