import { useEffect, useState } from 'preact/hooks'
import type { PageSession } from '../../connect/session.js'
import { loadReadMark, type ReadMark, saveReadMark } from '../../connect/storage.js'
import type { SpaceModel } from '../../model/index.js'

/** Messages that arrived while the reader was away. */
export interface Unread {
  /** Row key of the first unread message. */
  readonly key: string
  readonly count: number
  /** Time at which the reader left, RFC 3339. */
  readonly since: string
}

/** Interval at which the seq up to which the reader has read is saved. */
const saveMs = 1000

/**
 * Unread messages, and a function that marks them read. The seq up to which the reader has read is stored in this browser. It
 * advances while the page is visible and the newest row is in view.
 */
export function useUnread(session: PageSession): readonly [unread: Unread | undefined, markRead: () => void] {
  const { present, welcome, time } = session
  const { space } = session.place
  const me = welcome?.you.id ?? ''
  const [left, setLeft] = useState<ReadMark | undefined>()
  useEffect(() => {
    if (me === '') return
    setLeft(loadReadMark(space, me))
    let saved = 0
    const save = (): void => {
      const { log } = session.present
      if (log.last === saved || !isReading(session.present)) return
      saved = log.last
      saveReadMark(space, me, { seq: log.last, ts: new Date().toISOString() })
    }
    const turned = (): void => {
      if (document.visibilityState === 'visible') setLeft(loadReadMark(space, me))
      else if (session.present.isFollowing)
        saveReadMark(space, me, { seq: session.present.log.last, ts: new Date().toISOString() })
    }
    const timer = setInterval(save, saveMs)
    document.addEventListener('visibilitychange', turned)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', turned)
    }
  }, [session, me])
  const unread = time.isPast || left === undefined ? undefined : findUnread(present, left, me)
  return [unread, () => setLeft(undefined)]
}

const isReading = ({ isFollowing, log }: SpaceModel): boolean =>
  document.visibilityState === 'visible' && isFollowing && log.last > 0

function findUnread({ lists, log }: SpaceModel, { seq: read, ts: since }: ReadMark, me: string) {
  if (log.first > read) return undefined // Unknown, because the last read message is not loaded.
  const { slots } = lists.stream
  let [key, count] = ['', 0]
  for (let at = slots.length - 1; at >= 0; at--) {
    const slot = slots[at]
    if (slot?.type !== 'message' || (slot.part ?? 0) > 0) continue
    if ((slot.envelope.seq ?? 0) <= read) break
    if (slot.envelope.from !== me) [key, count] = [slot.key, count + 1]
  }
  return count === 0 ? undefined : { key, count, since }
}
