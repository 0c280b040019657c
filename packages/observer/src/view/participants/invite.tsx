import { Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { lazy } from '../shared/lazy.js'
import { useSpace } from '../shared/use-space.js'

const InviteDialog = lazy(() => import('./invite-dialog.js').then(({ InviteDialog }) => InviteDialog))

/** Button that opens the invitation dialog. */
export function Invite(): VNode | null {
  const { isLive, can } = useSpace()
  const [isOpen, setOpen] = useState(false)
  if (!can({ kind: Kind.spaceInvite })) return null
  return (
    <>
      <button type="button" class="link invite" disabled={!isLive} onClick={() => setOpen(true)}>
        + Invite…
      </button>
      {isOpen && <InviteDialog close={() => setOpen(false)} />}
    </>
  )
}
