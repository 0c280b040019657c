import { serveFile } from './gateways.js'

// The program that `startOn` starts: node history-gateway.ts <file>
const start = performance.now()
const { url, close } = await serveFile(process.argv[2] ?? '')
const ms = Math.round(performance.now() - start)
process.once('SIGTERM', async () => {
  await close()
  process.exit()
})
console.log(`listening on ${new URL(url).port} after ${ms} ms`)
