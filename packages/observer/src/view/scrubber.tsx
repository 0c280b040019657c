import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { speeds } from '../connect/time-travel.js'
import { countText, momentText } from '../model/index.js'
import { updateAddress } from './shared/hooks.js'
import { IconButton } from './shared/parts.js'
import { useSpace } from './shared/use-space.js'

/** Milliseconds that a moment is looked at before the address names it: browsers take only so many changes. */
const addressDelayMs = 400

interface ScrubberProps {
  /** Seq of the moment that the address names; absent = the present. */
  readonly linked: number | undefined
  /** Whether it shows in the present, too. */
  readonly isOpen: boolean
}

/** Where in time the reader is, and the way to any other moment. */
export function Scrubber({ linked, isOpen }: ScrubberProps): VNode | null {
  const { session } = useSpace()
  const { time, present } = session
  const { first, last } = present.log
  const { seq, isPast, isPlaying } = time
  const isRunning = isPlaying || !isPast
  useMoment(linked)
  // What was loaded since belongs into the past as well.
  useEffect(() => time.refresh(), [time, present.log.envelopes])
  if (!isOpen && !isPast) return null
  const shown = present.log.envelopes[present.log.countThrough(seq) - 1]
  const moment = shown === undefined ? '' : momentText(shown.ts)
  return (
    <fieldset class={`scrubber ${isPast ? 'past' : ''}`} aria-label="Time">
      <IconButton
        sign="start"
        label="To the beginning"
        disabled={last === 0}
        onClick={() => time.toStart()}
      />
      <IconButton
        sign={isRunning ? 'stop' : 'play'}
        label={isRunning ? 'Stop' : 'Play'}
        title={isRunning ? 'Stop (space)' : 'Play (space)'}
        disabled={last === 0}
        onClick={() => time.togglePlay()}
      />
      <select
        aria-label="Speed"
        value={time.speed}
        onChange={(event) => time.setSpeed(Number(event.currentTarget.value))}
      >
        {speeds.map((speed) => (
          <option key={speed} value={speed}>
            {speed}×
          </option>
        ))}
      </select>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={isPast ? `#${seq}, ${moment}` : 'live'}
        min={first}
        max={Math.max(last, first + 1)}
        value={seq}
        disabled={last === 0}
        onInput={(event) => time.toMoment(Number(event.currentTarget.value))}
      />
      {isPast && (
        <span class="moment">
          #{seq} · {moment}
          {time.progress < 1 && ` · ${Math.floor(time.progress * 100)} %`}
        </span>
      )}
      <button
        type="button"
        class={isPast || session.stage.at !== 'live' ? 'live' : 'live now'}
        aria-pressed={!isPast}
        title="To the present (.)"
        onClick={() => time.toPresent()}
      >
        <span aria-hidden="true">●</span> LIVE
        {time.news > 0 && <span class="news"> {countText(time.news, 'new envelope')}</span>}
      </button>
    </fieldset>
  )
}

/** The moment that the address names is shown when it is loaded; then the address names the one that is. */
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
