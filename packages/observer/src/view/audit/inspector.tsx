import { indentJson, printable } from '@meup/folds'
import { correlations, type Envelope, Kind, stringifyExact } from '@meup/protocol'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { explainError } from '../../connect/errors.js'
import { readOne } from '../../connect/history.js'
import { getFullSize, sizeText } from '../../model/index.js'
import { Facts } from '../shared/facts.js'
import { useNow } from '../shared/hooks.js'
import { Alert, CloseButton, Name, UntrustedText } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'
import { RefusalDetail } from './refusal.js'

/** The side panel that shows everything about one envelope. */
export function Inspector({ envelope, close }: { envelope: Envelope; close: () => void }): VNode {
  const { session } = useSpace()
  const { seq, id, from, to, kind, ts, context, rationale } = envelope
  const chain = useChainFacts(seq)
  return (
    <aside class="inspector" aria-label="Envelope">
      <header>
        <h2>
          #{seq} <code>{kind}</code>
        </h2>
        <CloseButton close={close} />
      </header>
      <Facts
        of={[
          ['from', <Name key="from" id={from} />],
          ['to', to?.join(', ')],
          ['at', ts],
          ['id', <code key="id">{id}</code>],
          ['context', context && <code>{context}</code>],
          ['about', links(correlations(envelope))],
          ...chain,
          ['answered by', links(session.model.log.answersTo(id))],
        ]}
      />
      {rationale !== undefined && <UntrustedText kind="reason" text={printable(rationale)} />}
      {kind === Kind.systemDecision && <RefusalDetail decision={envelope} />}
      <ExactJson envelope={envelope} />
    </aside>
  )
}

/** Maximum number of listed envelopes. */
const maxLinks = 20

function Links({ ids }: { ids: readonly string[] }): VNode {
  const { session, inspect } = useSpace()
  return (
    <>
      {ids.slice(0, maxLinks).map((id) => {
        const known = session.model.log.get(id)
        if (known === undefined) return <code key={id}>{id} (not loaded)</code>
        return (
          <button type="button" class="link" key={id} onClick={() => inspect(id)}>
            #{known.seq} {known.kind}
          </button>
        )
      })}
      {ids.length > maxLinks && <span class="dim">and {ids.length - maxLinks} more</span>}
    </>
  )
}

const links = (ids: readonly string[]): VNode | undefined =>
  ids.length === 0 ? undefined : <Links ids={ids} />

/** A list with an envelope's hashes and its position in the hash chain. */
export const EnvelopeChain = ({ seq }: { seq: number | undefined }): VNode => (
  <Facts kind="chain-place" of={useChainFacts(seq)} />
)

/** An envelope's hashes and its position in the chain, as verified by this page. */
function useChainFacts(seq: number | undefined): readonly (readonly [string, ComponentChildren])[] {
  const { logCheck } = useSpace().session
  const isChecked = logCheck.getHash(seq ?? 0) !== undefined
  useNow(!isChecked) // Redraws while the check is running.
  if (seq === undefined) return []
  const isWrong = logCheck.state.at === 'broken' && seq >= (logCheck.state.seq ?? 0)
  const text = isWrong ? '✗ does not match' : isChecked ? '✓ checked here' : '○ not checked yet'
  const hashOf = (at: number): ComponentChildren => {
    const hash = isChecked ? logCheck.getHash(at) : undefined
    return hash && <code>{hash}</code>
  }
  return [
    ['chain', isWrong ? <span class="problem">{text}</span> : text],
    ['previous hash', hashOf(seq - 1)],
    ['hash', hashOf(seq)],
    ['next hash', hashOf(seq + 1)],
  ]
}

/** Maximum characters of JSON, even on request. */
const maxShownChars = 200_000

/** An envelope as JSON. If it is truncated, the reader can load the rest. */
export function ExactJson({ envelope }: { envelope: Envelope }): VNode {
  const { session } = useSpace()
  const [whole, setWhole] = useState<Envelope | undefined>()
  const [problem, setProblem] = useState<string | undefined>()
  useEffect(() => {
    setWhole(undefined)
    setProblem(undefined)
  }, [envelope])
  const size = getFullSize(envelope)
  const load = (): void => {
    readOne(session.http, envelope.seq ?? 0).then(setWhole, (error: unknown) =>
      setProblem(explainError(error)),
    )
  }
  const json = useMemo(() => indentJson(stringifyExact(whole ?? envelope)), [whole, envelope])
  return (
    <>
      {size !== undefined && whole === undefined && (
        <p>
          <button type="button" onClick={load}>
            Load all of it ({sizeText(size)})
          </button>
        </p>
      )}
      {problem !== undefined && <Alert>{problem}</Alert>}
      <pre class="exact" dir="ltr">
        {json.slice(0, maxShownChars)}
      </pre>
      {json.length > maxShownChars && (
        <p>
          <button
            type="button"
            onClick={() => {
              navigator.clipboard?.writeText(json).catch((error: unknown) => setProblem(explainError(error)))
            }}
          >
            Copy all of it, also the {sizeText(json.length - maxShownChars)} that are not shown
          </button>
        </p>
      )}
    </>
  )
}
