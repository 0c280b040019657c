// Entry point in browsers (`exports` in package.json). Its values are those of index.ts; exports.test.ts compares them.
import { freshId } from '@meup/protocol'
import { dialBrowser } from './adapters/browser-ws.js'
import type { ConnectOptions } from './adapters/environment.js'
import { noEnvironmentError } from './client/errors.js'
import type { DialRequest } from './client/transport.js'
import { openSpace } from './open-space.js'
import type { SpaceClient } from './space-client.js'

/** One session id for all connections of this page. */
const ownSession = freshId()

/** Checks the options: a page has no environment that could complete them. */
export function readEnvironment(options: ConnectOptions): DialRequest {
  const { as: _, directory: __, openProposals: ___, session = ownSession, url, space, ...given } = options
  if (url === undefined || space === undefined) throw noEnvironmentError(url === undefined ? 'url' : 'space')
  return { ...given, url, space, ...(session !== false && { session }) }
}

/** Connects to a space from a browser. Address and token are required. */
export const connect = async (options: ConnectOptions = {}): Promise<SpaceClient> =>
  openSpace(dialBrowser, readEnvironment(options), options.openProposals)

// Types are exported by `index.ts` only: both entry points share its declaration file.

export { ProtocolError } from '@meup/protocol'
export { frameMessage, framingRule } from './agent/frame-message.js'
export { tool } from './agent/own-tool.js'
export { runAgent } from './agent/run-agent.js'
export { ConnectionError, ToolError } from './client/errors.js'
export { ProposalError } from './client/proposal.js'
export { offerTools } from './model/offer-tools.js'
