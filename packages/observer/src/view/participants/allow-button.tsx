import { formatCapability } from '@meup/folds'
import { type Capability, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useSpace } from '../shared/use-space.js'

/** Button that opens the form for granting the capability that a refused envelope lacked. */
export function AllowButton({ id, missing }: { id: string; missing: Capability | undefined }): VNode | null {
  const { session, isLive, can, showPanel } = useSpace()
  const mayGrant = can({ kind: Kind.capabilityGrant, payload: { recipient: id } })
  if (missing === undefined || id === session.welcome?.you.id || !mayGrant) return null
  const capability = formatCapability(missing)
  return (
    <button
      type="button"
      class="link"
      disabled={!isLive}
      onClick={() => showPanel({ at: 'person', id, capability })}
    >
      Allow…
    </button>
  )
}
