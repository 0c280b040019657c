import type { ProposalView } from '@meup/folds'
import { useEffect, useRef } from 'preact/hooks'
import type { SpaceActions } from '../shared/use-space.js'

type Notifications = typeof import('./notifications.js')

const icon = (): HTMLLinkElement | null => document.querySelector('link[rel=icon]')
const ownIcon = icon()?.getAttribute('href') ?? ''

/** Shows the number of pending decisions in the page's title and icon, and as a notification if the page is hidden. */
export function useAlerts(space: SpaceActions, waiting: number, mine: readonly ProposalView[]): void {
  const { space: name } = space.session.place
  useEffect(() => {
    document.title = waiting === 0 ? name : `(${waiting}) ${name}`
    icon()?.setAttribute('href', waiting === 0 ? ownIcon : '/icon-waiting.svg')
  }, [name, waiting])
  const before = useRef(waiting)
  useEffect(() => {
    const isMore = waiting > before.current
    before.current = waiting
    if (isMore) whenHidden(({ notifyOfDecision }) => notifyOfDecision(space, waiting, mine.at(-1)))
  }, [waiting])
  const { log } = space.session.present
  const seen = useRef(log.last)
  useEffect(() => {
    const last = seen.current
    seen.current = log.last
    const news = log.envelopes.slice(log.countThrough(last))
    if (last > 0) whenHidden(({ notifyOfMessages }) => notifyOfMessages(space, news))
  }, [log, log.last])
}

function whenHidden(notify: (notifications: Notifications) => void): void {
  if (!document.hidden) return
  import('./notifications.js')
    .then(notify)
    .catch((error: unknown) => console.info('no notification was shown:', error))
}
