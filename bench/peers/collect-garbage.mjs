/** Loaded into a server before its program: a signal collects the garbage and says in bytes what is left. */
process.on('SIGUSR2', () => {
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  process.stderr.write(`${JSON.stringify({ used: heapUsed + external })}\n`)
})
