import type { Logger } from '../ports/logger.js'

let count = 0

/** Unhandled promise rejections of this process. */
export const countUnhandledRejections = (): number => count

/**
 * Logs unhandled rejections instead of ending the process: code that forgot one promise rarely matters to other connections. An
 * uncaught exception still ends the process, because it may leave state half-changed.
 */
export function logUnhandledRejections(logger: Logger): void {
  process.on('unhandledRejection', (reason) => {
    count++
    const origin = findOrigin(reason)
    logger.error({ err: reason, ...(origin && { origin }) }, 'a rejected promise was not handled')
  })
}

/** The innermost place in the stack of an error, other than those inside Node.js. */
function findOrigin(reason: unknown): string | undefined {
  if (!(reason instanceof Error)) return undefined
  const frames = [...(reason.stack ?? '').matchAll(/^\s+at (.+)$/gm)].map(([, frame = '']) => frame)
  return frames.find((frame) => !frame.includes('node:')) ?? frames[0]
}
