import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { updateAddress } from './shared/hooks.js'
import { lazy } from './shared/lazy.js'
import { useSpace } from './shared/use-space.js'

const TimeBar = lazy(() => import('./time-bar.js').then(({ TimeBar }) => TimeBar))

/** Milliseconds before the address follows the shown moment: browsers limit changes of the address. */
const addressDelayMs = 400

interface ScrubberProps {
  /** Seq of the moment in the address; absent = the present. */
  readonly linked: number | undefined
  /** Whether it is also shown in the present. */
  readonly isOpen: boolean
}

/** The reader's position in time, with controls to change it. */
export function Scrubber({ linked, isOpen }: ScrubberProps): VNode | null {
  const { session } = useSpace()
  const { time, present } = session
  useMoment(linked)
  // Newly loaded history extends the past as well.
  useEffect(() => time.refresh(), [time, present.log.envelopes])
  if (!isOpen && !time.isPast) return null
  return <TimeBar />
}

/** Shows the moment of the address once it is loaded; after that, the address follows the shown moment. */
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
