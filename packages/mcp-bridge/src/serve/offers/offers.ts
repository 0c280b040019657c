import { type CallableTool, type SpaceClient, ToolError } from '@meup/agent-sdk'
import { Answers, nameTools, Patience } from '@meup/agent-sdk/internal'
import { dropNulls, isObject, Pages } from '@meup/folds'
import { type AnyEnvelope, Kind, type McpRequestPayload, omitUndefined, PROTOCOL } from '@meup/protocol'
import {
  isSpecType,
  type Prompt,
  type Resource,
  type ResourceTemplateType,
  type Tool,
} from '@modelcontextprotocol/server'
import { formatCodedError } from '../results.js'
import type { ListName, Uris } from './changes.js'

/** A prompt, resource or template in the list of a participant. */
interface Offered<Definition> {
  readonly participant: string
  readonly name: string
  readonly definition: Definition
}

const lists = {
  prompts: { method: 'prompts/list', capability: 'prompts', isValid: isSpecType.Prompt },
  resources: { method: 'resources/list', capability: 'resources', isValid: isSpecType.Resource },
  resourceTemplates: {
    method: 'resources/templates/list',
    capability: 'resources',
    isValid: isSpecType.ResourceTemplate,
  },
} as const
type AskedList = keyof typeof lists
interface Definitions {
  readonly prompts: Prompt
  readonly resources: Resource
  readonly resourceTemplates: ResourceTemplateType
}

/** Milliseconds that a participant gets to list its prompts or resources. */
const askMs = 5000
/** Options of the requests for lists. */
const asking = { timeoutMs: askMs, propose: false }
const initialize = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'meup', version: PROTOCOL },
}
/** Maximum pages, items, and characters as JSON of a participant's list. */
const [maxPages, maxItems, maxChars] = [20, 1000, 512 * 1024]

interface OffersOptions {
  readonly space: SpaceClient
  readonly uris: Uris
  readonly log: (line: string) => void
  /** Called when a list for clients has changed. */
  readonly onChange: (list: ListName) => void
}

/**
 * The tools, prompts and resources of participants, for all MCP clients of a space. They are requested once, and again when
 * they may have changed.
 */
export class Offers {
  readonly #space: SpaceClient
  readonly #uris: Uris
  readonly #log: (line: string) => void
  readonly #onChange: (list: ListName) => void
  readonly #lists: Readonly<Record<AskedList, Answers<readonly unknown[]>>>
  /** The capabilities that participants reported in `initialize`; `undefined` = no answer. */
  readonly #capabilities: Answers<object | undefined>
  /** The lists that were last returned to clients, as JSON. */
  readonly #given = new Map<ListName | 'resourceTemplates', string>()
  readonly #checking = new Set<ListName>()
  /** Time by `performance.now` at which each list was last checked for changes. */
  readonly #checked = new Map<ListName, number>()

  constructor({ space, uris, log, onChange }: OffersOptions) {
    this.#space = space
    this.#uris = uris
    this.#log = log
    this.#onChange = onChange
    const createList = (list: AskedList): Answers<readonly unknown[]> =>
      new Answers<readonly unknown[]>({
        ask: (id) => this.#ask(id, list),
        none: [],
        onError: (error) => log(`the ${list} of a participant are not known: ${formatCodedError(error)}`),
        onLate: () => this.#check(list === 'prompts' ? 'prompts' : 'resources'),
      })
    this.#lists = {
      prompts: createList('prompts'),
      resources: createList('resources'),
      resourceTemplates: createList('resourceTemplates'),
    }
    this.#capabilities = new Answers<object | undefined>({
      ask: (id) => this.#askCapabilities(id),
      none: undefined,
      onError: (error) => log(`the offers of a participant are unknown: ${formatCodedError(error)}`),
    })
    space.on('tools', () => this.#check('tools'))
    space.on('envelope', (envelope) => this.#onEnvelope(envelope))
  }

  /** The tools that this participant may call or propose, by their names for clients. */
  async tools(): Promise<ReadonlyMap<string, CallableTool>> {
    const people = this.#space.participants.filter(isPerson)
    return nameTools(await this.#space.tools(['*', ...people.map(({ id }) => `!${id}`)]))
  }

  /** The prompts of participants, by their names for clients. */
  async prompts(): Promise<ReadonlyMap<string, Offered<Prompt>>> {
    return nameTools(await this.#collect('prompts'))
  }

  async listTools(): Promise<Tool[]> {
    return this.#give(
      'tools',
      [...(await this.tools())].map(([name, tool]) => toDefinition(name, tool)),
    )
  }

  async listPrompts(): Promise<Prompt[]> {
    const prompts = await this.prompts()
    return this.#give(
      'prompts',
      [...prompts].map(([name, { definition }]) => ({ ...definition, name })),
    )
  }

  async listResources(): Promise<Resource[]> {
    const resources = await this.#collect('resources')
    return this.#give(
      'resources',
      resources.map(({ participant, definition }) => ({
        ...definition,
        uri: this.#uris.offered(participant, definition.uri),
      })),
    )
  }

  async listResourceTemplates(): Promise<ResourceTemplateType[]> {
    const templates = await this.#collect('resourceTemplates')
    return this.#give(
      'resourceTemplates',
      templates.map(({ participant, definition }) => ({
        ...definition,
        uriTemplate: this.#uris.offered(participant, definition.uriTemplate),
      })),
    )
  }

  /** Ids of present participants. Excludes humans, whose clients do not answer requests for lists. */
  #present(): string[] {
    const { id: own, participants } = this.#space
    const here = participants.filter(
      (each) => each.status === 'present' && each.id !== own && !isPerson(each),
    )
    return here.map(({ id }) => id).sort()
  }

  async #collect<List extends AskedList>(list: List): Promise<Offered<Definitions[List]>[]> {
    const asked = this.#present().filter((id) => this.#mayAsk(id, lists[list].method, {}))
    const listed = await this.#lists[list].read(asked, new Patience(askMs))
    return listed.flatMap((definitions, index) =>
      (definitions as readonly Definitions[List][]).map((definition) => ({
        participant: asked[index] ?? '',
        name: definition.name,
        definition,
      })),
    )
  }

  async #ask(participant: string, list: AskedList): Promise<readonly unknown[]> {
    const { method, capability, isValid } = lists[list]
    const mayAsk = this.#mayAsk(participant, 'initialize', initialize)
    const [capabilities] = mayAsk ? await this.#capabilities.read([participant], new Patience(askMs)) : []
    if (capabilities !== undefined && !(capability in capabilities)) return []
    const items: unknown[] = []
    let chars = 0
    try {
      const pages = new Pages()
      let params: object | undefined = {}
      for (let page = 0; page < maxPages && params !== undefined; page++) {
        const result = await this.#space.request(participant, method, params, asking)
        for (const each of Array.isArray(result[list]) ? result[list] : []) {
          const item = dropNulls(each)
          chars += JSON.stringify(item).length
          if (items.length === maxItems || chars > maxChars) {
            this.#log(
              `${participant} offers more than ${maxItems} ${list}, or ${maxChars} characters of them; the rest is left out`,
            )
            return items
          }
          if (isValid(item)) items.push(item)
        }
        params = pages.next(result)
      }
    } catch (error) {
      // An error is an answer too: the participant does not have this list.
      if (!(error instanceof ToolError)) throw error
    }
    return items
  }

  async #askCapabilities(participant: string): Promise<object | undefined> {
    try {
      const { capabilities } = await this.#space.request(participant, 'initialize', initialize, asking)
      return isObject(capabilities) ? capabilities : {}
    } catch (error) {
      if (error instanceof ToolError) return undefined
      throw error
    }
  }

  #mayAsk(participant: string, method: string, params: object): boolean {
    const payload = { jsonrpc: '2.0', method, params }
    return this.#space.can({ kind: Kind.mcpRequest, to: [participant], payload })
  }

  #onEnvelope(envelope: AnyEnvelope): void {
    const { from, kind } = envelope
    if (kind === Kind.systemPresence && envelope.payload.event !== 'update') {
      const { id } = envelope.payload.participant
      this.#capabilities.expire(id)
      for (const list of ['prompts', 'resources'] as const) this.#expire(id, list, false)
    } else if (kind === Kind.mcpRequest && from !== this.#space.id) {
      const { method } = envelope.payload as McpRequestPayload
      if (method === 'notifications/prompts/list_changed') this.#expire(from, 'prompts', true)
      if (method === 'notifications/resources/list_changed') this.#expire(from, 'resources', true)
    }
    for (const each of [this.#capabilities, ...Object.values(this.#lists)]) each.onSent(from)
  }

  #expire(participant: string, list: 'prompts' | 'resources', isAnnounced: boolean): void {
    this.#lists[list].expire(participant, { isAnnounced })
    if (list === 'resources') this.#lists.resourceTemplates.expire(participant, { isAnnounced })
    this.#check(list)
  }

  /** Notifies clients if a list has changed; at most once per `changeMs`, because each client may then send many requests. */
  #check(list: ListName): void {
    const before = this.#read(list)
    if (this.#checking.has(list) || before.every((each) => each === undefined)) return
    this.#checking.add(list)
    const next = (this.#checked.get(list) ?? Number.NEGATIVE_INFINITY) + changeMs
    const wait = Math.max(settleMs, next - performance.now())
    setTimeout(() => {
      this.#checking.delete(list)
      this.#checked.set(list, performance.now())
      this.#compare(list, before).catch((error: unknown) =>
        this.#log(`the ${list} are not known: ${formatCodedError(error)}`),
      )
    }, wait).unref()
  }

  async #compare(list: ListName, before: readonly (string | undefined)[]): Promise<void> {
    if (list === 'tools') await this.listTools()
    else if (list === 'prompts') await this.listPrompts()
    else await Promise.all([this.listResources(), this.listResourceTemplates()])
    if (this.#read(list).some((each, at) => before[at] !== undefined && each !== before[at]))
      this.#onChange(list)
  }

  #read(list: ListName): (string | undefined)[] {
    const templates = list === 'resources' ? [this.#given.get('resourceTemplates')] : []
    return [this.#given.get(list), ...templates]
  }

  #give<Definition>(list: ListName | 'resourceTemplates', definitions: Definition[]): Definition[] {
    this.#given.set(list, JSON.stringify(definitions))
    return definitions
  }
}

const isPerson = ({ kind }: { readonly kind: string }): boolean => kind === 'human'

/** Minimum milliseconds between two notifications about the same list. */
const changeMs = 1000
/** Milliseconds to wait before a list that may have changed is read again. */
const settleMs = 100

/** Converts a tool for clients, with its name for them. Omits optional members that clients could not parse. */
function toDefinition(name: string, { inputSchema, description, definition }: CallableTool): Tool {
  const { type: _, ...schema } = inputSchema
  const own = {
    name,
    ...omitUndefined({ description }),
    inputSchema: { ...schema, type: 'object' as const },
  }
  const whole = { ...definition, ...own }
  return isSpecType.Tool(whole)
    ? whole
    : isSpecType.Tool(own)
      ? own
      : { name, inputSchema: { type: 'object' } }
}
