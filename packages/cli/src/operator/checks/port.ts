import { createServer } from 'node:net'
import type { Config } from '../../config/config.js'
import type { GatewayFile } from '../../run/gateway-file.js'
import { listenOf } from '../summary.js'
import { type Check, fail, pass } from './check.js'

/** Whether the gateway could listen where it is to, or does already. */
export async function portCheck(config: Config, running: GatewayFile | undefined): Promise<Check> {
  const { host, port } = config.gateway
  const address = listenOf(config)
  if (running !== undefined && Number(new URL(running.url).port) === port) {
    return pass('port', `${address} is held by the gateway that runs here (pid ${running.pid})`)
  }
  const error = await tryToListen(host, port)
  if (error === undefined) return pass('port', port === 0 ? `${address}: any free one` : `${address} is free`)
  const advice = 'choose another address with gateway.listen or --listen'
  return error.code === 'EADDRINUSE'
    ? fail('port', `${address} is held by another program`, `stop it, or ${advice}`)
    : fail('port', `${address} cannot be listened on: ${error.message}`, advice)
}

function tryToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
}
