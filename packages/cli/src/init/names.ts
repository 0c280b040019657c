import { createServer } from 'node:net'
import { ConfigError } from '../config/config-error.js'
import { parseConfig } from '../config/load.js'
import { namesFor } from '../operator/space-template.js'
import { type Names, spaceYaml } from './space-yaml.js'

/** Ports that are tried, from the first one on. */
const [firstPort, ports] = [8080, 20]

/** What is proposed for this folder: its name, whoever is logged in, and a port that is free. */
export async function usualNames(folder: string): Promise<Names> {
  const { space, human } = namesFor(folder)
  return {
    space,
    person: human,
    agent: human === 'reviewer' ? 'agent' : 'reviewer',
    listen: await freeAddress(),
  }
}

/** What is wrong with these, in words for people; `undefined` = nothing. */
export function problemWith(names: Names): string | undefined {
  const { person, agent } = names
  if (person === agent || [person, agent].includes('files')) {
    return `you, the agent and "files" need different names: ${person}, ${agent}`
  }
  try {
    parseConfig(spaceYaml(names), { file: 'space.yaml', env: {} })
    return undefined
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
    throw error
  }
}

/** Of this machine alone; any port where none of the usual ones is free. */
async function freeAddress(): Promise<string> {
  for (let port = firstPort; port < firstPort + ports; port++) {
    if (await isFree(port)) return `127.0.0.1:${port}`
  }
  return '127.0.0.1:0'
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
