import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { updateAddress } from './shared/hooks.js'
import { lazy } from './shared/lazy.js'
import { useSpace } from './shared/use-space.js'

const TimeBar = lazy(() => import('./time-bar.js').then(({ TimeBar }) => TimeBar))

/** Delay before the URL follows the moment in the past that the page shows: browsers limit the rate of URL changes. */
const addressDelayMs = 400

interface LinkedMomentProps {
  /** Seq of the last envelope at the moment in the past that the URL names; absent for the present. */
  readonly linked: number | undefined
  /** Whether the time bar is shown even in the present. */
  readonly isOpen: boolean
}

/**
 * Keeps the moment in the URL and the shown moment equal, and loads the time bar when it is needed. The slider and its buttons
 * are in `time-bar.tsx`; moving in time is in `connect/time-travel.ts`.
 */
export function LinkedMoment({ linked, isOpen }: LinkedMomentProps): VNode | null {
  const { session } = useSpace()
  const { time, present } = session
  useMoment(linked)
  // Recomputes the shown moment, because newly loaded history may change the past.
  useEffect(() => time.refresh(), [time, present.log.envelopes])
  if (!isOpen && !time.isPast) return null
  return <TimeBar />
}

/** Goes to the moment in the URL once it is loaded; after that, the URL follows the shown moment. */
function useMoment(linked: number | undefined): void {
  const { session } = useSpace()
  const { time, present } = session
  const wanted = useRef<number | undefined>(undefined)
  useEffect(() => {
    wanted.current = linked
    if (linked === undefined) time.toPresent()
  }, [linked])
  const { first, last } = present.log
  const isThere = wanted.current !== undefined && last >= wanted.current
  const isEarlier = isThere && first > (wanted.current ?? 0) && session.hasEarlier
  useEffect(() => {
    if (wanted.current === undefined || !isThere || (isEarlier && session.isLoading)) return
    if (isEarlier) {
      session.loadEarlier().catch(reportError)
      return
    }
    if (wanted.current !== time.seq) time.toMoment(wanted.current)
    wanted.current = undefined
  }, [linked, isThere, isEarlier, first, session.isLoading])

  const { isPast, seq } = time
  useEffect(() => {
    if (isPast) wanted.current = undefined
    if (wanted.current !== undefined) return
    const timer = setTimeout(() => updateAddress({ moment: isPast ? seq : undefined }), addressDelayMs)
    return () => clearTimeout(timer)
  }, [isPast, seq])
}
