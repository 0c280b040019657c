/** Loaded into a server before its program. On SIGUSR2, collects garbage and prints the bytes that remain. */
process.on('SIGUSR2', () => {
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  process.stderr.write(`${JSON.stringify({ used: heapUsed + external })}\n`)
})
