import type { Envelope } from '@meup/protocol'
import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { readOne } from '../connect/http.js'
import { reasonOf } from '../connect/session.js'
import { indentJson, sizeOf, sizeText } from '../model/index.js'
import { useDesk } from './desk.js'

/** Characters that are shown even of what was asked for. */
const most = 200_000

/** That only the beginning of something is shown, and the way to the rest. */
export function HeavyChip({ envelope }: { envelope: Envelope }): VNode | null {
  const { look } = useDesk()
  const size = sizeOf(envelope)
  if (size === undefined) return null
  return (
    <button type="button" class="chip link" onClick={() => look(envelope.id)}>
      {sizeText(size)} in all
    </button>
  )
}

/** An envelope as JSON. What is heavy is loaded when that is asked for. */
export function Exact({ envelope }: { envelope: Envelope }): VNode {
  const { session } = useDesk()
  const [whole, setWhole] = useState<Envelope | undefined>()
  const [problem, setProblem] = useState<string | undefined>()
  useEffect(() => {
    setWhole(undefined)
    setProblem(undefined)
  }, [envelope])
  const size = sizeOf(envelope)
  const load = (): void => {
    readOne(session.place, envelope.seq ?? 0).then(setWhole, (error: unknown) => setProblem(reasonOf(error)))
  }
  const json = useMemo(() => indentJson(JSON.stringify(whole ?? envelope)), [whole, envelope])
  return (
    <>
      {size !== undefined && whole === undefined && (
        <p>
          <button type="button" onClick={load}>
            Load all of it ({sizeText(size)})
          </button>
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <pre class="exact" dir="ltr">
        {json.slice(0, most)}
      </pre>
      {json.length > most && (
        <p>
          <button
            type="button"
            onClick={() => {
              navigator.clipboard?.writeText(json).catch((error: unknown) => setProblem(reasonOf(error)))
            }}
          >
            Copy all of it, also the {sizeText(json.length - most)} that are not shown
          </button>
        </p>
      )}
    </>
  )
}
