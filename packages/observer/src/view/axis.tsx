import { createContext, type VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { durationText, type TimeScale, tickText, timeScale } from '../model/index.js'
import { grid } from './grid.js'

/** The axis, and what time it is by the gateway's clock. */
interface Scale extends TimeScale {
  readonly now: number
}

const ScaleContext = createContext<Scale>({ ...timeScale([], 0), now: 0 })
export const ScaleProvider = ScaleContext.Provider
export const useScale = (): Scale => useContext(ScaleContext)

/** As CSS has it. */
export const percent = (part: number): string => `${(part * 100).toFixed(2)}%`

/** The head of the waterfall: what stands in its columns, and the time. */
export function Axis(): VNode {
  const { ticks, pauses } = useScale()
  return (
    <div {...grid.group} class="axis">
      <div {...grid.headRow} class="axis-row">
        <span {...grid.head('What')}>What</span>
        <span {...grid.head('When')} class="times">
          {ticks.map(({ at, ms }) => (
            <time key={ms} class="tick" style={{ left: percent(at) }} dateTime={new Date(ms).toISOString()}>
              {tickText(ms)}
            </time>
          ))}
          {pauses.map(({ from, to, ms }) => (
            <span
              key={from}
              class="pause"
              style={{ left: percent(from), width: percent(to - from) }}
              title={`Nothing for ${durationText(ms)}`}
            >
              ⋯
            </span>
          ))}
        </span>
      </div>
    </div>
  )
}
