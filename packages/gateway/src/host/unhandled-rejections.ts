import type { Logger } from '../ports/logger.js'

let count = 0

/** Promises of this process whose rejection nobody handled. */
export const countUnhandledRejections = (): number => count

/**
 * Has this process log rejections that nobody handled, and go on: the code that forgot one of its promises is seldom what the
 * others depend on. An exception that nobody caught still ends the process, because it may have left anything half done.
 */
export function logUnhandledRejections(logger: Logger): void {
  process.on('unhandledRejection', (reason) => {
    count++
    const origin = findOrigin(reason)
    logger.error({ err: reason, ...(origin && { origin }) }, 'nobody handled a rejected promise')
  })
}

/** The innermost place in the stack of an error, without those inside Node.js. */
function findOrigin(reason: unknown): string | undefined {
  if (!(reason instanceof Error)) return undefined
  const frames = [...(reason.stack ?? '').matchAll(/^\s+at (.+)$/gm)].map(([, frame = '']) => frame)
  return frames.find((frame) => !frame.includes('node:')) ?? frames[0]
}
