import { exitCodes } from '../exit.js'

/** Milliseconds a drain may take before the process ends all the same. */
const drainMs = 4500

/** Waits for SIGINT or SIGTERM, then closes. A second signal ends the process at once. */
export async function untilSignal(close: () => Promise<void>): Promise<void> {
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve())
  })
  const atOnce = (): void => process.exit(exitCodes.interrupted)
  process.once('SIGINT', atOnce).once('SIGTERM', atOnce)
  setTimeout(() => {
    process.stderr.write('the drain took too long; ending without it\n')
    process.exit(exitCodes.error)
  }, drainMs).unref()
  await close()
}
