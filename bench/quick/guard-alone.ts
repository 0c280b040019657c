import { compileSafety, defaultSafety } from '@meup/safety'
import { measureTasks } from '../compare.js'
import { messagesOf } from '../load/template.js'
import type { QuickOptions } from './figures.js'

const size = 300

/**
 * Measures the guard without a gateway. Each call guards all texts of the mixture, so that slow texts count as often as they
 * occur.
 */
export async function guardAlone({ rounds, ms, warmMs }: QuickOptions): Promise<number[]> {
  const { guard } = compileSafety(defaultSafety)
  const envelopes = messagesOf(0, size, { kind: 'reasoning.thought', texts: 'mixture' })
  const texts = envelopes.map(
    (each) => (JSON.parse(each) as { payload: { message: string } }).payload.message,
  )
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const [parse, gate] = await measureTasks(
      [
        ['JSON.parse', () => envelopes.forEach((each) => void JSON.parse(each))],
        ['gate', () => texts.forEach((each) => void guard(each))],
      ],
      { batch: 1, ms, warmMs: round === 0 ? warmMs : 0 },
    )
    ratios.push((parse?.ns ?? Number.NaN) / (gate?.ns ?? Number.NaN))
  }
  return ratios
}
