import { serveFile } from './gateways.js'

// Serves a log file in its own process, which `startOn` in gateways.ts starts: node history-gateway.ts <file>
const start = performance.now()
const { url, close } = await serveFile(process.argv[2] ?? '')
const ms = Math.round(performance.now() - start)
process.once('SIGTERM', async () => {
  await close()
  process.exit()
})
console.log(`listening on ${new URL(url).port} after ${ms} ms`)
