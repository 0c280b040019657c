import type { VNode } from 'preact'
import { speeds } from '../connect/time-travel.js'
import { countText, momentText } from '../model/index.js'
import { IconButton, Options } from './shared/parts.js'
import { useSpace } from './shared/use-space.js'

/** A slider that goes to any moment of the log, and buttons that play it. */
export function TimeBar(): VNode {
  const { session } = useSpace()
  const { time, present } = session
  const { first, last } = present.log
  const { seq, isPast, isPlaying } = time
  const isRunning = isPlaying || !isPast
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
        <Options of={speeds.map((speed) => [speed, `${speed}×`])} />
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
