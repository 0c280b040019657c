import { ProtocolError } from '@meup/protocol'
import type { Seat } from './types.js'

type Pausable = Pick<Seat, 'paused' | 'ended' | 'on' | 'off'>

/** Resolves when this participant is not paused, or need not wait for that any more. */
export async function active(seat: Pausable, signal?: AbortSignal): Promise<void> {
  while (seat.paused && !seat.ended && !signal?.aborted) {
    await new Promise<void>((resolve) => {
      const changed = (): void => {
        seat.off('resumed', changed)
        seat.off('closed', changed)
        signal?.removeEventListener('abort', changed)
        resolve()
      }
      seat.on('resumed', changed)
      seat.on('closed', changed)
      signal?.addEventListener('abort', changed)
    })
  }
}

/** Does something; where a pause forbids it, again after that. Whoever aborts it meanwhile gets the refusal. */
export async function afterPause<Value>(
  seat: Pausable,
  act: () => Promise<Value>,
  signal?: AbortSignal,
): Promise<Value> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== 'participant_paused') throw error
      await active(seat, signal)
      if (seat.ended || signal?.aborted) throw error
    }
  }
}
