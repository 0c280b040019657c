import {
  createGateway,
  type Logger,
  memoryStore,
  type Served,
  serve,
  sqliteStore,
  tokenAuthenticator,
} from '@meup/gateway'
import type { Config } from '../config/config.js'
import { ensureTokens } from '../config/tokens.js'
import { removeGatewayFile, writeGatewayFile } from './gateway-file.js'

export interface RunningGateway {
  readonly url: string
  readonly spaces: readonly string[]
  /** space → participant → token */
  readonly tokens: Readonly<Record<string, Readonly<Record<string, string>>>>
  close(): Promise<void>
}

/** Opens the log, the tokens and the address of a configuration. */
export async function startGateway(config: Config, logger: Logger): Promise<RunningGateway> {
  const tokens = Object.fromEntries(
    config.spaces.map(({ config: space }) => [
      space.name,
      ensureTokens(config.directory, Object.keys(space.participants), {
        ...(config.several && { space: space.name }),
        warn: (message: string) => logger.warn({}, message),
      }),
    ]),
  )
  const store = config.storage.kind === 'memory' ? memoryStore() : await sqliteStore(config.storage)
  const gateway = await createGateway({
    spaces: config.spaces.map((space) => space.config),
    store,
    authenticator: tokenAuthenticator(tokens),
    logger,
  })
  let served: Served
  try {
    served = await serve({ gateway, logger, ...config.gateway })
  } catch (error) {
    await gateway.close()
    throw error
  }
  writeGatewayFile(config.directory, {
    url: served.url,
    spaces: gateway.spaces,
    pid: process.pid,
    people: Object.fromEntries(
      config.spaces.map(({ config: space }) => [space.name, peopleOf(space.participants)]),
    ),
  })
  return {
    url: served.url,
    spaces: gateway.spaces,
    tokens,
    async close() {
      removeGatewayFile(config.directory, process.pid)
      await served.close()
    },
  }
}

const peopleOf = (participants: Config['spaces'][number]['config']['participants']): string[] =>
  Object.entries(participants)
    .filter(([, { kind }]) => kind === 'human')
    .map(([id]) => id)
