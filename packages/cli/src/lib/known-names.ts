import type { HttpClient } from '@meup/agent-sdk/http'
import { suggest } from '@meup/folds'
import { GATEWAY, Kind, namespaceOf } from '@meup/protocol'
import { mustKnow } from './connection.js'
import { unknownNameError } from './unknown-name.js'

interface Names {
  readonly from?: readonly string[] | undefined
  readonly kind?: readonly string[] | undefined
  /** `participant/tool`, or only the tool's name. */
  readonly tool?: string | undefined
}

/**
 * Throws, with the nearest known name, if a name is neither in the space nor in its log. Called when a query found no events or
 * before waiting for some: a misspelt name would look like a lack of events.
 */
export async function checkNames(http: HttpClient, { from = [], kind = [], tool }: Names): Promise<void> {
  const isLogged = async (query: { from: string[] } | { kind: string[] }): Promise<boolean> =>
    (await http.readLogPage({ ...query, order: 'desc', limit: 1 })).envelopes.length > 0
  const { participants } = await http.readParticipants()
  for (const name of from) {
    if (name !== GATEWAY && !(await isLogged({ from: [name] }))) mustKnow({ participants }, [name])
  }
  for (const name of kind) {
    if (kinds.includes(name) || isCustom(name) || (await isLogged({ kind: [name] }))) continue
    throw unknownNameError('kind', name, kinds)
  }
  if (tool !== undefined) await checkTool(http, tool)
}

const kinds: readonly string[] = Object.values(Kind)
const namespaces: ReadonlySet<string> = new Set(kinds.map(namespaceOf))

/** Whether a space may define this kind: it is outside the reserved namespaces and not similar to a standard kind. */
const isCustom = (name: string): boolean =>
  name.includes('.') && !namespaces.has(namespaceOf(name)) && suggest(name, kinds) === undefined

/** Maximum number of calls that are searched for tool names. */
const maxCalls = 1000

async function checkTool(http: HttpClient, tool: string): Promise<void> {
  const asked = { kind: [Kind.mcpRequest, Kind.mcpProposal], limit: maxCalls }
  const { value } = await http.search(asked).next()
  const { hits = [] } = value ?? {}
  const names = [...new Set(hits.flatMap((hit) => hit.tool ?? []))]
  const name = tool.slice(tool.indexOf('/') + 1)
  if (names.includes(tool) || names.includes(name)) return
  throw unknownNameError('call or proposal of', tool, names, name)
}
