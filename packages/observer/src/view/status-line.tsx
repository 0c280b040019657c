import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Session } from '../connect/session.js'
import { useNow } from './hooks.js'

/** Milliseconds that a notice stays. */
const noticeMs = 8000

export interface StatusLineProps {
  readonly session: Session
  /** What did not work. */
  readonly trouble: string | undefined
  readonly toPending: () => void
  readonly leave: () => void
  readonly redraw: () => void
}

/** What waits for a decision, what went wrong, and what the connection has just done. */
export function StatusLine({ session, trouble, toPending, leave, redraw }: StatusLineProps): VNode {
  const { notice, stage } = session
  useEffect(() => {
    if (notice === undefined) return
    const timer = setTimeout(() => {
      session.notice = undefined
      redraw()
    }, noticeMs)
    return () => clearTimeout(timer)
  }, [session, notice])
  const now = useNow(true)
  const pending = session.model.pending(now).length
  return (
    <p class="status">
      {pending > 0 && (
        <button type="button" class="pending" onClick={toPending}>
          ⚠ {pending} pending
        </button>
      )}
      {trouble !== undefined && (
        <span class="problem" role="alert">
          {trouble}
        </span>
      )}
      {stage.at === 'ended' && (
        <>
          <span class="problem" role="alert">
            {stage.reason}
          </span>
          {stage.isRefused ? (
            <button type="button" onClick={leave}>
              Sign in again
            </button>
          ) : (
            <button type="button" onClick={() => void session.again()}>
              Try again
            </button>
          )}
        </>
      )}
      {notice !== undefined && <span class="dim">{notice}</span>}
    </p>
  )
}
