/**
 * Lets Node and libraries write to stderr while something is drawn on the terminal: `aside` has it taken away, calls back,
 * and draws it again. Gives what ends that.
 */
export function besideWarnings(aside: (write: () => void) => void): () => void {
  const { stderr } = process
  const write = stderr.write
  // Node writes its warnings past the stream.
  const tellers = process.listeners('warning')
  const warn = (warning: Error): void => aside(() => tellers.forEach((tell) => void tell(warning)))
  stderr.write = (...said: unknown[]): boolean => {
    let isTaken = true
    aside(() => {
      isTaken = Reflect.apply(write, stderr, said)
    })
    return isTaken
  }
  process.removeAllListeners('warning').on('warning', warn)
  return () => {
    stderr.write = write
    process.off('warning', warn)
    for (const tell of tellers) process.on('warning', tell)
  }
}
