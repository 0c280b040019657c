import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PageSession } from '../connect/session.js'
import type { SpaceModel } from '../model/index.js'
import { memo } from './shared/parts.js'

/** Time for which a notice is shown. */
const noticeMs = 8000

interface StatusLineProps {
  readonly session: PageSession
  /** Error of the last action. */
  readonly requestError: string | undefined
  readonly leave: () => void
  readonly redraw: () => void
}

/** Pending decisions, errors, and connection state. */
export function StatusLine({ session, requestError, leave, redraw }: StatusLineProps): VNode {
  const { notice, stage } = session
  useEffect(() => {
    if (notice === undefined) return
    const timer = setTimeout(() => {
      session.notice = undefined
      redraw()
    }, noticeMs)
    return () => clearTimeout(timer)
  }, [session, notice])
  return (
    <p class="status">
      {requestError !== undefined && (
        <span class="problem" role="alert">
          {requestError}
        </span>
      )}
      <span class="dim" role="status">
        {[stage.at === 'reconnecting' ? stage.reason : '', notice].filter(Boolean).join(' · ')}
      </span>
      {stage.at === 'reconnecting' && (
        <button type="button" onClick={() => session.retryNow()}>
          Try now
        </button>
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
            <button type="button" onClick={() => void session.reconnect()}>
              Try again
            </button>
          )}
        </>
      )}
    </p>
  )
}

/** Minimum interval of announcements. */
const announceMs = 2000

/**
 * Announces runs, messages and proposals to screen readers. Rendered only on changes: setting the same text may be announced
 * again.
 */
export const Announcements = memo(({ model }: { model: SpaceModel }): VNode => {
  const [text, setText] = useState('')
  useEffect(() => {
    const timer = setInterval(() => {
      const news = model.live.drainAnnouncements()
      if (news !== '') setText(news)
    }, announceMs)
    return () => clearInterval(timer)
  }, [model])
  return (
    <p class="unseen" role="status" aria-live="polite">
      {text}
    </p>
  )
})
